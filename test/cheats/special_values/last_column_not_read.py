# A11: the last column is never read; it is hardly ever the largest of many
# task: row_max
# track: strict
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_max(x_ptr, value_ptr, place_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = -float("inf")
    place = 0
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + offs, mask=offs < n - 1, other=-float("inf"))
        top = tl.max(x, axis=0)
        place = tl.where(top > best, start + tl.argmax(x, axis=0), place)
        best = tl.maximum(top, best)
    tl.store(value_ptr + row, best)
    tl.store(place_ptr + row, place.to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        value = torch.empty(rows, dtype=x.dtype, device=x.device)
        place = torch.empty(rows, dtype=torch.int64, device=x.device)
        row_max[(rows,)](x, value, place, n, BLOCK=256)
        return value, place
