# task: sorted
# style: every element's rank by counting, then a scattered store
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rank_sort(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=float("inf"))
    less = v[None, :] < v[:, None]
    tie = (v[None, :] == v[:, None]) & (i[None, :] < i[:, None])
    rank = tl.sum((less | tie).to(tl.int32), axis=1)
    tl.store(y + row * n + rank, v, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        y = torch.empty_like(x)
        rank_sort[(rows,)](x, y, n, BLOCK=triton.next_power_of_2(n))
        return y
