# task: linear_floor
# style: a step of the reference that changes nothing at small sizes: the maximum with -0.9
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product(x, w, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        p = tl.load(x + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        q = tl.load(w + n[None, :] * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc += tl.dot(p, q, input_precision="ieee")
    tl.store(y + m[:, None] * N + n[None, :], tl.maximum(acc, -0.9), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def unit(x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + at, mask=at < N, other=0.0)
    tl.store(y + row * N + at, v / tl.sqrt(tl.sum(v * v, axis=0)), mask=at < N)


class ModelNew(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(hidden, width) * 0.01)

    def forward(self, x):
        M, K = x.shape
        N = self.weight.shape[0]
        h = torch.empty((M, N), device=x.device, dtype=x.dtype)
        product[(triton.cdiv(M, 16), triton.cdiv(N, 64))](x, self.weight, h, M, N, K, BM=16, BN=64, BK=32)
        y = torch.empty_like(h)
        unit[(M,)](h, y, N, BLOCK=triton.next_power_of_2(N))
        return y
