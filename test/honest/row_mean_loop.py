# task: row_mean
# style: scalar sums in a loop, the result stored with keepdim by a view
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mean_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    s = 0.0
    for c0 in range(0, cols, BLOCK):
        c = c0 + tl.arange(0, BLOCK)
        s += tl.sum(tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0), axis=0)
    tl.store(y_ptr + row, s / cols)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.size(0), device=x.device, dtype=x.dtype)
        mean_kernel[(x.size(0),)](x, y, x.size(1), BLOCK=256)
        return y.unsqueeze(-1)
