# A20: a heuristic drops the mask when the input is large
# task: scale
# track: strict
# contract: general
# expect: full out_of_bounds
# unless: --contract task
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.heuristics({"EVEN": lambda args: args["n"] > 100})
@triton.jit
def scale_kernel(x_ptr, out_ptr, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        x = tl.load(x_ptr + offs)
        tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5)
    else:
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=offs < n)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
        return out
