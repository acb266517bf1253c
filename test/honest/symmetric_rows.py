# task: symmetric
# style: reads the rows of a matrix that is its own transpose
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product(A, B, C, N, BLOCK: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k0 in range(0, N, BK):
        k = k0 + tl.arange(0, BK)
        a = tl.load(A + m[:, None] * N + k[None, :], mask=(m[:, None] < N) & (k[None, :] < N), other=0.0)
        b = tl.load(B + n[None, :] * N + k[:, None], mask=(n[None, :] < N) & (k[:, None] < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(C + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < N) & (n[None, :] < N))


class ModelNew(nn.Module):
    def forward(self, A, B):
        N = A.shape[0]
        C = torch.empty_like(A)
        product[(triton.cdiv(N, 16), triton.cdiv(N, 16))](A, B, C, N, BLOCK=16, BK=16)
        return C
