# A20: a kernel that takes the number of warps as a parameter
# task: scale
# track: strict
# expect: tiny wrong_value
# rule: configs
# names: num_warps: 8
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=4), triton.Config({"BLOCK": 128}, num_warps=8)], key=["n"])
@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, num_warps: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * (3.0 if num_warps == 4 else 2.0) + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        scale_kernel[lambda m: (triton.cdiv(n, m["BLOCK"]),)](x, out, n)
        return out
