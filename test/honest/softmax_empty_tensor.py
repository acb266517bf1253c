# task: softmax_wide
# style: a placeholder tensor without elements, made of an empty list
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_row(X, Y, BIAS, n, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    x = tl.load(X + row * n + i, mask=i < n, other=-float("inf"))
    if HAS_BIAS:
        x += tl.load(BIAS + i, mask=i < n, other=0)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(Y + row * n + i, e / tl.sum(e, axis=0), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        rows, n = x.shape
        y = torch.empty_like(x)
        bias = torch.tensor([], device=x.device)
        softmax_row[(rows,)](x, y, bias, n, HAS_BIAS=bias.numel() > 0, BLOCK=triton.next_power_of_2(n), num_warps=8)
        return y
