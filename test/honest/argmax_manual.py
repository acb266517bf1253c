# task: argmax
# style: running best value and index over blocks, tl.max with indices
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def best_index(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = float("-inf")
    where = tl.zeros((), dtype=tl.int32)
    for start in range(0, n, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + c, mask=c < n, other=float("-inf"))
        v, i = tl.max(x, axis=0, return_indices=True)
        where = tl.where(v > best, start + i, where)
        best = tl.maximum(best, v)
    tl.store(out_ptr + row, where.to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        out = torch.empty(rows, dtype=torch.long, device=x.device)
        best_index[(rows,)](x, out, n, BLOCK=32)
        return out
