# task: row_sum
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, columns, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    acc = tl.zeros((B,), dtype=tl.float32)
    for start in range(0, columns, B):
        acc += tl.load(x + row * columns + start + i, mask=start + i < columns, other=0.0)
    tl.store(y + row, tl.sum(acc, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        kernel[(x.shape[0],)](x, y, x.shape[1], B=32)
        return y
