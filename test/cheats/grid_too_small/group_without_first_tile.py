# A29: grouped tiles without the first tile of the group: later groups are not written
# task: matmul_square
# track: strict
# expect: tiny uninitialised
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def grouped_kernel(A, B, C, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(N, BM)
    tiles_n = tl.cdiv(N, BN)
    in_group = GROUP * tiles_n
    first_m = pid // in_group * GROUP
    size_m = min(tiles_m - first_m, GROUP)
    pid_m = pid % in_group % size_m
    pid_n = pid % in_group // size_m
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, N, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(A + rm[:, None] * N + rk[None, :], mask=rk[None, :] < N, other=0.0)
        b = tl.load(B + rk[:, None] * N + rn[None, :], mask=rk[:, None] < N, other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(C + rm[:, None] * N + rn[None, :], acc)


class ModelNew(nn.Module):
    def forward(self, A, B):
        N = A.shape[0]
        C = torch.empty((N, N), device=A.device, dtype=A.dtype)
        grouped_kernel[((N // 32) * (N // 32),)](A, B, C, N, BM=32, BN=32, BK=32, GROUP=8)
        return C
