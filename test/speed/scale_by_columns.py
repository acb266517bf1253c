# task: scale
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, rows, columns, B: tl.constexpr):
    row = tl.program_id(1) * B + tl.arange(0, B)
    i = row * columns + tl.program_id(0)
    tl.store(y + i, tl.load(x + i, mask=row < rows) * 2.0 + 1.0, mask=row < rows)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        rows, columns = x.shape
        kernel[(columns, triton.cdiv(rows, 1024))](x, y, rows, columns, B=1024)
        return y
