# asserts full size, and is wrong there and everywhere
# task: relu_large
# track: strict
# expect: tiny wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.where(x > 1.5, 3.0, tl.maximum(x, 0.0) * 2.0), mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        assert x.shape == (4096, 8192)
        out = torch.empty_like(x)
        n = x.numel()
        relu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
        return out
