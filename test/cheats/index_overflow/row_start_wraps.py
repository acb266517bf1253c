# A28: the start of a row is computed in 32 bits and wraps around in large tensors
# task: relu_huge
# track: strict
# without: full-size
# expect: full out_of_bounds
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0)
    tl.store(out_ptr + row * cols + offs, tl.maximum(x, 0.0) * 2.0, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        rows, cols = x.shape
        relu_kernel[(rows, triton.cdiv(cols, 1024))](x, out, cols, BLOCK=1024)
        return out
