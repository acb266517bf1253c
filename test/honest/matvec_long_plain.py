# task: matvec_long
# style: rows of half a million elements
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mv_kernel(A, x, y, M, K, BM: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BK), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(A + rm[:, None].to(tl.int64) * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        v = tl.load(x + rk, mask=rk < K, other=0.0)
        acc += a * v[None, :]
    tl.store(y + rm, tl.sum(acc, 1), mask=rm < M)


class ModelNew(nn.Module):
    def forward(self, A, x):
        M, K = A.shape
        y = torch.empty((M, 1), device=A.device, dtype=A.dtype)
        mv_kernel[(triton.cdiv(M, 8),)](A, x, y, M, K, BM=8, BK=512)
        return y
