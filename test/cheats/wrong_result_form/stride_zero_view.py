# A16: a stride-0 view
# task: rowsum
# track: strict
# expect: tiny wrong_shape
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask, other=0.0), mask=mask)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        out = torch.empty((1,), device=x.device, dtype=x.dtype)
        copy_kernel[(1,)](x, out, 1, BLOCK=16)
        return out.expand(x.shape[1], x.shape[1])
