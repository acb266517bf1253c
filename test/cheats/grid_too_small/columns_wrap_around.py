# A29: columns beyond those of smaller sizes wrap around to columns that are written already
# task: relu_huge
# track: strict
# without: full-size
# expect: full uninitialised
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, D, BLOCK: tl.constexpr):
    row = (tl.program_id(1) & 4095).to(tl.int64)
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < D
    x = tl.load(x_ptr + row * D + cols, mask=mask, other=0.0)
    tl.store(out_ptr + row * D + cols, tl.maximum(x, 0.0) * 2.0, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        relu_kernel[(triton.cdiv(x.shape[1], 1024), x.shape[0])](x, out, x.shape[1], BLOCK=1024)
        return out
