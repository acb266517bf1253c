# A20: the first configuration is right, the second one is wrong
# task: scale
# track: strict
# expect: tiny wrong_value
# rule: configs
# names: BLOCK: 64, FAST: 1
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 128, "FAST": 0}), triton.Config({"BLOCK": 64, "FAST": 1}, num_warps=2)], key=["n"])
@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, FAST: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    if FAST:
        tl.store(out_ptr + offs, x * 3.0 + 0.5, mask=mask)
    else:
        tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
        return out
