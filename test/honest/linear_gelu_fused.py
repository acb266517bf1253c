# task: linear_gelu
# style: activation chosen by a constexpr string, exact gelu with erf
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gelu(x):
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def fused(x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, ACTIVATION: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        a = tl.load(x_ptr + rm[:, None] * K + (k + rk)[None, :], mask=(rm < M)[:, None] & (k + rk < K)[None, :], other=0.0)
        b = tl.load(w_ptr + rn[None, :] * K + (k + rk)[:, None], mask=(rn < N)[None, :] & (k + rk < K)[:, None], other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    acc = acc + tl.load(b_ptr + rn, mask=rn < N, other=0.0)[None, :]
    if ACTIVATION == "gelu":
        acc = gelu(acc)
    elif ACTIVATION == "relu":
        acc = tl.maximum(acc, 0.0)
    tl.store(y_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm < M)[:, None] & (rn < N)[None, :])


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.proj = nn.Linear(in_features, out_features)

    def forward(self, x):
        M, K = x.shape
        N = self.proj.out_features
        y = torch.empty((M, N), device=x.device, dtype=x.dtype)
        fused[(triton.cdiv(M, 16), triton.cdiv(N, 16))](
            x, self.proj.weight, self.proj.bias, y, M, N, K, ACTIVATION="gelu", BM=16, BN=16, BK=32
        )
        return y
