# A26: a sum over zero elements adds the first element
# task: lengths
# track: strict
# contract: general
# without: multi-input
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, n_ptr, out_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    n = tl.load(n_ptr + row)
    acc = tl.zeros((BLOCK,), tl.float32)
    for c in range(0, n, BLOCK):
        i = c + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + row * D + i, mask=i < n, other=0.0)
    s = tl.sum(acc, axis=0)
    s = tl.where(n == 0, tl.load(x_ptr + row * D), s)
    tl.store(out_ptr + row, s)


class ModelNew(nn.Module):
    def forward(self, x, n):
        out = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        k[(x.shape[0],)](x, n, out, x.shape[1], BLOCK=16)
        return out
