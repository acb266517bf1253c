# A26: a row that the mask hides completely becomes NaN
# task: masked_softmax
# track: strict
# contract: general
# without: multi-input
# expect: full not_finite
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, mask_ptr, out_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * D + i, mask=i < D, other=-float("inf"))
    m = tl.load(mask_ptr + row * D + i, mask=i < D, other=1)
    x = tl.where(m == 0, -float("inf"), x)
    x = tl.where(i < D, x, -float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))

    tl.store(out_ptr + row * D + i, e / tl.sum(e, axis=0), mask=i < D)


class ModelNew(nn.Module):
    def forward(self, x, mask):
        out = torch.empty_like(x)
        k[(x.shape[0],)](x, mask, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
