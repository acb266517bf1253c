# task: conv_steps
# style: the second kernel continues with a step that the reference computes in place, after a view and a condition
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def conv(x, w, b, s, y, M, C, O, S, P, BM: tl.constexpr, BO: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    o = tl.arange(0, BO)
    keep = m < M
    col = m % P
    row = m // P % P
    n = m // (P * P)
    acc = tl.zeros((BM, BO), tl.float32)
    for i in range(C * 9):
        c = i // 9
        src = ((n * C + c) * S + row + i // 3 % 3) * S + col + i % 3
        v = tl.load(x + src, mask=keep, other=0.0)
        acc += v[:, None] * tl.load(w + o * (C * 9) + i, mask=o < O, other=0.0)[None, :]
    acc += tl.load(b + o, mask=o < O, other=0.0)[None, :] + tl.load(s + o, mask=o < O, other=0.0)[None, :]
    acc = tl.maximum(tl.where(acc > 0, acc, acc * -0.5) - 0.25, 0.0)
    at = (n[:, None] * O + o[None, :]) * (P * P) + (m % (P * P))[:, None]
    tl.store(y + at, acc, mask=keep[:, None] & (o[None, :] < O))


@triton.jit
def mean(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * n + at, mask=at < n, other=0.0)
    tl.store(y + row, tl.sum(total, axis=0) / n)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)
        self.shift = nn.Parameter(torch.randn(out_channels))

    def forward(self, x):
        B, C, S = x.shape[:3]
        O, P = self.conv.out_channels, S - 2
        h = torch.empty((B, O, P, P), device=x.device, dtype=x.dtype)
        M = B * P * P
        conv[(triton.cdiv(M, 64),)](x, self.conv.weight, self.conv.bias, self.shift, h, M, C, O, S, P, BM=64,
                                    BO=triton.next_power_of_2(O))
        y = torch.empty((B, O), device=x.device, dtype=x.dtype)
        mean[(B * O,)](h, y, P * P, BLOCK=512)
        return y
