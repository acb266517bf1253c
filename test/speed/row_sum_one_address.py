# task: row_sum
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, columns, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.program_id(1) * B + tl.arange(0, B)
    tl.atomic_add(y + row + tl.zeros((B,), dtype=tl.int32), tl.load(x + row * columns + i, mask=i < columns, other=0.0), mask=i < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.zeros(x.shape[0], device=x.device, dtype=x.dtype)
        kernel[(x.shape[0], triton.cdiv(x.shape[1], 1024))](x, y, x.shape[1], B=1024)
        return y
