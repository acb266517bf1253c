# A20: one configuration has a number of warps that Triton refuses
# task: scale
# track: strict
# without: funnel
# expect: tiny assertion_failed
# names: num_warps: 3
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 128}, num_warps=3)], key=["n"])
@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
        return out
