# A20: two tuned kernels that are right only if both choose the same index in their lists
# task: scale
# track: strict
# expect: tiny wrong_value
# rule: configs
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 128, "S": 1.0}), triton.Config({"BLOCK": 256, "S": 2.0})], key=["n"])
@triton.jit
def first_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, S: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask, other=0.0) * S, mask=mask)

@triton.autotune(configs=[triton.Config({"BLOCK": 128, "S": 3.0}), triton.Config({"BLOCK": 256, "S": 1.5})], key=["n"])
@triton.jit
def second_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, S: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * S + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        out = torch.empty_like(x)
        n = x.numel()
        first_kernel[lambda m: (triton.cdiv(n, m["BLOCK"]),)](x, y, n)
        second_kernel[lambda m: (triton.cdiv(n, m["BLOCK"]),)](y, out, n)
        return out
