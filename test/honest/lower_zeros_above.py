# task: lower
# style: tiles above the diagonal are left as torch.zeros made them
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def lower_product(a_ptr, b_ptr, c_ptr, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0)
    j = tl.program_id(1)
    if j * BN > i * BM + BM - 1:
        return
    rm = i * BM + tl.arange(0, BM)
    rn = j * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(j * BN // BK * BK, tl.minimum(n, (i + 1) * BM), BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * n + rk[None, :], mask=(rm[:, None] < n) & (rk[None, :] < n), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * n + rn[None, :], mask=(rk[:, None] < n) & (rn[None, :] < n), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    acc = tl.where(rm[:, None] >= rn[None, :], acc, 0.0)
    tl.store(c_ptr + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < n) & (rn[None, :] < n))


class ModelNew(nn.Module):
    def forward(self, a, b):
        n = a.shape[0]
        c = torch.zeros((n, n), device=a.device, dtype=a.dtype)
        lower_product[(triton.cdiv(n, 64), triton.cdiv(n, 32))](a, b, c, n, BM=64, BN=32, BK=32)
        return c
