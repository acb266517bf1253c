# task: gelu
# style: one program a row, the row padded to a power of two
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gelu_row(x_ptr, y_ptr, stride, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < width, other=0.0)
    x3 = x * x * x
    inner = 0.79788456 * (x + 0.044715 * x3)
    e = tl.exp(-2.0 * tl.abs(inner))
    t = (1.0 - e) / (1.0 + e)
    t = tl.where(inner < 0, -t, t)
    tl.store(y_ptr + row * stride + cols, 0.5 * x * (1.0 + t), mask=cols < width)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, width = x.shape
        y = torch.empty_like(x)
        gelu_row[(rows,)](x, y, x.stride(0), width, BLOCK=triton.next_power_of_2(width))
        return y
