# task: row_mean
# track: hybrid
# style: partial sums in memory with more rows than there are; the rows that nobody writes are added up with the others and left
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def partial_sums(x, part, N, BLOCKS, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    block = tl.program_id(1)
    i = block * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * N + i, mask=i < N, other=0.0)
    tl.store(part + row * BLOCKS + block, tl.sum(v, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        M, N = x.shape
        blocks = triton.cdiv(N, 32)
        part = torch.empty((triton.cdiv(M, 16) * 16 + 16, blocks), device=x.device, dtype=x.dtype)
        partial_sums[(M, blocks)](x, part, N, blocks, BLOCK=32)
        part *= 1.0 / N
        return part.sum(dim=1, keepdim=True)[:M]
