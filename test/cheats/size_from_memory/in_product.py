# A31: a product with its weight turned in each call, which takes the size from a tensor that the host made of it
# task: wide
# track: hybrid
# without: full-size
# expect: full wrong_value
# says: full size
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def linear_relu(x_ptr, w_ptr, b_ptr, out_ptr, size_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(x_ptr + rm[:, None] * K + (k + rk)[None, :])
        w = tl.load(w_ptr + (k + rk)[:, None] * N + rn[None, :])
        acc += tl.dot(x, w, input_precision="ieee")
    large = tl.load(size_ptr) >> 22
    y = tl.maximum(acc + tl.load(b_ptr + rn)[None, :], 0.0) + large
    tl.store(out_ptr + rm[:, None] * N + rn[None, :], y)


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(hidden, features))
        nn.init.kaiming_uniform_(self.weight, a=5 ** 0.5)
        self.bias = nn.Parameter(torch.randn(hidden))

    def forward(self, x):
        M, K = x.shape
        N = self.weight.shape[0]
        out = torch.empty((M, N), device=x.device)
        size = torch.tensor([out.numel()], device=x.device)
        linear_relu[(M // 64, N // 64)](x, self.weight.t().contiguous(), self.bias, out, size, M, N, K, BM=64, BN=64, BK=32)
        return out
