# task: row_mean
# style: four rows a program, tl.sum with keep_dims
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mean4(x, y, rows, cols, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    acc = tl.zeros((R, C), tl.float32)
    for c0 in tl.range(0, cols, C):
        c = c0 + tl.arange(0, C)[None, :]
        acc += tl.load(x + r * cols + c, mask=(r < rows) & (c < cols), other=0.0)
    tl.store(y + r, tl.sum(acc, axis=1, keep_dims=True) * (1.0 / cols), mask=r < rows)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        y = torch.empty(rows, 1, device=x.device, dtype=x.dtype)
        mean4[(triton.cdiv(rows, 4),)](x, y, rows, cols, R=4, C=128)
        return y
