# task: linear_gelu
# style: a product kernel and an activation kernel in place on its result
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product(x_ptr, w_ptr, b_ptr, y_ptr, N, K, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    row = tl.program_id(0)
    n = tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    x = tl.load(x_ptr + row * K + k, mask=k < K, other=0.0)
    w = tl.load(w_ptr + n[:, None] * K + k[None, :], mask=(n[:, None] < N) & (k[None, :] < K), other=0.0)
    y = tl.sum(x[None, :] * w, axis=1) + tl.load(b_ptr + n, mask=n < N, other=0.0)
    tl.store(y_ptr + row * N + n, y, mask=n < N)


@triton.jit
def gelu_(y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(y_ptr + i, y * 0.5 * (1.0 + tl.math.erf(y / 1.4142135623730951)), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.proj = nn.Linear(in_features, out_features)

    def forward(self, x):
        M, K = x.shape
        N = self.proj.weight.size(0)
        y = torch.empty(M, N, dtype=x.dtype, device=x.device)
        product[(M,)](x, self.proj.weight, self.proj.bias, y, N, K,
                      BLOCK_N=triton.next_power_of_2(N), BLOCK_K=triton.next_power_of_2(K))
        gelu_[(triton.cdiv(y.numel(), 256),)](y, y.numel(), BLOCK=256)
        return y
