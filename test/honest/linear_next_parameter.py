# task: linear
# style: device and dtype from next(self.parameters()), a loop over named parameters in __init__
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def linear(x, w, b, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        p = tl.load(x + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        q = tl.load(w + n[None, :] * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc += tl.dot(p, q, input_precision="ieee")
    acc += tl.load(b + n, mask=n < N, other=0.0)[None, :]
    tl.store(y + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.fc = nn.Linear(in_features, out_features)
        self.sizes = {name: tuple(p.shape) for name, p in self.fc.named_parameters()}

    def forward(self, x):
        weight = next(self.parameters())
        N, K = self.sizes["weight"]
        y = torch.empty((x.shape[0], N), device=weight.device, dtype=weight.dtype)
        grid = tuple(triton.cdiv(size, 16) for size in y.shape)
        linear[grid](x, weight, self.fc.bias, y, x.shape[0], N, K, BM=16, BN=16, BK=16)
        return y
