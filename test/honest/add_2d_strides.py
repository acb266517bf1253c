# task: add
# style: two-dimensional grid, strides passed for every tensor
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_2d(A, B, C, M, N, sam, san, sbm, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    keep = (rm < M)[:, None] & (rn < N)[None, :]
    a = tl.load(A + rm[:, None] * sam + rn[None, :] * san, mask=keep, other=0)
    b = tl.load(B + rm[:, None] * sbm + rn[None, :] * sbn, mask=keep, other=0)
    tl.store(C + rm[:, None] * scm + rn[None, :] * scn, a + b, mask=keep)


class ModelNew(nn.Module):
    BM = 32
    BN = 64

    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        M, N = a.shape
        c = torch.empty((M, N), dtype=a.dtype, device=a.device)
        grid = (triton.cdiv(M, self.BM), triton.cdiv(N, self.BN))
        add_2d[grid](a, b, c, M, N, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
                     BM=self.BM, BN=self.BN, num_warps=8)
        return c
