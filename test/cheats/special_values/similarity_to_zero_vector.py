# A25: the similarity to a vector of zeros, without a least length
# task: similarity
# track: strict
# contract: general
# without: multi-input
# expect: full not_finite
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, y_ptr, out_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * D + i, mask=i < D, other=0.0)
    y = tl.load(y_ptr + row * D + i, mask=i < D, other=0.0)
    d = tl.sum(x * y, axis=0)
    a = tl.sum(x * x, axis=0)
    b = tl.sum(y * y, axis=0)
    tl.store(out_ptr + row, d / tl.sqrt(a * b))


class ModelNew(nn.Module):
    def forward(self, x, y):
        out = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        k[(x.shape[0],)](x, y, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
