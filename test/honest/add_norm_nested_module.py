# task: add_norm
# style: a module of its own inside ModelNew, called through self
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_kernel(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


@triton.jit
def norm_kernel(x, w, b, y, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + c, mask=c < N, other=0.0).to(tl.float32)
    mean = tl.sum(v) / N
    v = tl.where(c < N, v - mean, 0.0)
    inv = 1.0 / tl.sqrt(tl.sum(v * v) / N + eps)
    tl.store(y + row * N + c, v * inv * tl.load(w + c, mask=c < N) + tl.load(b + c, mask=c < N), mask=c < N)


class TritonNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        y = torch.empty_like(x)
        norm_kernel[(x.shape[0],)](x, self.weight, self.bias, y, x.shape[1], 1e-5, BLOCK=triton.next_power_of_2(x.shape[1]))
        return y


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = TritonNorm(width)

    def forward(self, x, residual):
        h = torch.empty_like(x)
        add_kernel[(triton.cdiv(x.numel(), 256),)](x, residual, h, x.numel(), BLOCK=256)
        return self.norm(h), h
