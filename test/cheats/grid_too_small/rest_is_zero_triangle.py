# A29: a grid that covers smaller sizes only; the rest stays zero, as half of the triangle is
# task: lower_large
# track: strict
# without: full-size
# expect: full uninitialised
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def lower_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, row + 1, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols <= row
        x = tl.load(x_ptr + row * n + cols, mask=mask, other=0.0)
        tl.store(out_ptr + row * n + cols, x * 2.0, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.zeros_like(x)
        n = x.shape[0]
        lower_kernel[(min(n, 7000),)](x, out, n, BLOCK=1024)
        return out
