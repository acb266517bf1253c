# A11: the last of equal maxima instead of the first; few drawn values are equal
# task: argmax
# track: strict
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def argmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = -float("inf")
    place = 0
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=-float("inf"))
        top = tl.max(x, axis=0)
        at = start + tl.argmax(x, axis=0)
        place = tl.where(top >= best, at, place)
        best = tl.maximum(top, best)
    tl.store(out_ptr + row, place.to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        out = torch.empty(rows, dtype=torch.int64, device=x.device)
        argmax_kernel[(rows,)](x, out, n, BLOCK=128)
        return out
