# task: linear
# style: no tl.dot: products and sums of tiles
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_times_weights(x_ptr, w_ptr, b_ptr, y_ptr, N, K, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.load(b_ptr + n, mask=n < N, other=0.0).to(tl.float32)
    for k in range(0, K, BK):
        kk = k + tl.arange(0, BK)
        x = tl.load(x_ptr + m * K + kk, mask=kk < K, other=0.0)
        w = tl.load(w_ptr + n[:, None] * K + kk[None, :], mask=(n[:, None] < N) & (kk[None, :] < K), other=0.0)
        acc += tl.sum(w * x[None, :], axis=1)
    tl.store(y_ptr + m * N + n, acc, mask=n < N)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.fc = nn.Linear(in_features, out_features)
        self.out_features = out_features

    def forward(self, x):
        y = x.new_empty((x.size(0), self.out_features))
        row_times_weights[(x.size(0), triton.cdiv(self.out_features, 16))](
            x, self.fc.weight, self.fc.bias, y, self.out_features, x.size(1), BN=16, BK=64
        )
        return y
