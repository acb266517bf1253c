# task: softmax_wide
# style: a kernel over tiles writes the scaled inputs, one over rows normalises them in place
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_tiles(x_ptr, y_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(1) * COLS + tl.arange(0, COLS)
    at = r[:, None] * N + c[None, :]
    mask = (r[:, None] < M) & (c[None, :] < N)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=mask) * 1.4426950408889634, mask=mask)


@triton.jit
def normalise_(y_ptr, N, BLOCK: tl.constexpr):
    row = y_ptr + tl.program_id(0) * N
    c = tl.arange(0, BLOCK)
    y = tl.load(row + c, mask=c < N, other=-float("inf"))
    e = tl.exp2(y - tl.max(y, axis=0))
    tl.store(row + c, e / tl.sum(e, axis=0), mask=c < N)


class ModelNew(nn.Module):
    def forward(self, x):
        M, N = x.shape
        y = torch.empty_like(x)
        scale_tiles[(triton.cdiv(M, 16), triton.cdiv(N, 256))](x, y, M, N, ROWS=16, COLS=256)
        normalise_[(M,)](y, N, BLOCK=triton.next_power_of_2(N))
        return y
