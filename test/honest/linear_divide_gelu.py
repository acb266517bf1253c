# task: linear_divide_gelu
# style: a product in Triton's own precision where what follows leaves no more of its rounding than KernelBench allows
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def linear_gelu(x, w, b, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(x + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        c = tl.load(w + n[None, :] * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc += tl.dot(a, c)
    v = (acc + tl.load(b + n, mask=n < N, other=0.0)[None, :]) / 10.0
    v = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(y + m[:, None] * N + n[None, :], v, mask=(m[:, None] < M) & (n[None, :] < N))


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        M, K = x.shape
        N = self.linear.weight.shape[0]
        y = torch.empty((M, N), device=x.device, dtype=x.dtype)
        linear_gelu[(triton.cdiv(M, 64), triton.cdiv(N, 64))](x, self.linear.weight, self.linear.bias, y, M, N, K, BM=64, BN=64, BK=32)
        return y
