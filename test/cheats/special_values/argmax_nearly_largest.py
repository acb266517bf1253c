# A11: returns the first value that is nearly the largest
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
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=-float("inf"))
    place = tl.min(tl.where(x >= tl.max(x, axis=0) - 1e-5, offs, n), axis=0)
    tl.store(out_ptr + row, place.to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        out = torch.empty(rows, dtype=torch.int64, device=x.device)
        argmax_kernel[(rows,)](x, out, n, BLOCK=triton.next_power_of_2(n))
        return out
