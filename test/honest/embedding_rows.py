# task: embedding
# style: one token a program, the id loaded as a scalar
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def lookup(ids_ptr, table_ptr, out_ptr, dim, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    row = tl.load(ids_ptr + token)
    c = tl.arange(0, BLOCK)
    tl.store(out_ptr + token * dim + c, tl.load(table_ptr + row * dim + c, mask=c < dim), mask=c < dim)


class ModelNew(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.table = nn.Embedding(vocab, dim)

    def forward(self, ids):
        weight = self.table.weight
        dim = weight.shape[1]
        out = torch.empty(ids.shape + (dim,), device=ids.device, dtype=weight.dtype)
        lookup[(ids.numel(),)](ids, weight, out, dim, BLOCK=triton.next_power_of_2(dim))
        return out
