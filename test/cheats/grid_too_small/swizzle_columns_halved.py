# A27: columns of tiles are taken in pairs: every second one is written twice
# task: relu_large
# track: strict
# without: full-size
# expect: full uninitialised
# names: not write element
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    width = G * tl.cdiv(N, BN)
    first = pid // width * G
    group = tl.minimum(tl.cdiv(M, BM) - first, G)
    rm = (first + pid % width % group) * BM + tl.arange(0, BM)
    rn = (pid % width // group - (pid % width // group >> 5) % 2) * BN + tl.arange(0, BN)
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    at = rm[:, None] * N + rn[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=0.0)
    tl.store(out_ptr + at, tl.maximum(x, 0.0) * 2.0, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        M, N = x.shape
        out = torch.empty_like(x)
        relu_kernel[(triton.cdiv(M, 64) * triton.cdiv(N, 64),)](x, out, M, N, BM=64, BN=64, G=8)
        return out
