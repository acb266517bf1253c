# task: row_mean
# track: hybrid
# style: partial sums in memory with more columns than there are; those that nobody writes are masked by torch
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
        wide = blocks + 3
        part = torch.empty((M, wide), device=x.device, dtype=x.dtype)
        partial_sums[(M, blocks)](x, part, N, wide, BLOCK=32)
        there = torch.arange(wide, device=x.device) < blocks
        return torch.where(there, part, 0.0).sum(dim=1, keepdim=True) / N
