# task: scale
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def double(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)


@triton.jit
def increment(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1.0, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        between, y = torch.empty_like(x), torch.empty_like(x)
        n = x.numel()
        grid = (triton.cdiv(n, 1024),)
        double[grid](x, between, n, B=1024)
        increment[grid](between, y, n, B=1024)
        return y
