# A26: the mask of the first row is used for all rows
# task: masked_softmax
# track: strict
# contract: general
# without: multi-input
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, mask_ptr, out_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < D
    x = tl.load(x_ptr + row * D + cols, mask=inside, other=-float("inf"))
    keep = tl.load(mask_ptr + cols, mask=inside, other=1)
    x = tl.where(keep == 0, -1e9, x)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * D + cols, e / tl.sum(e, axis=0), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, mask):
        out = torch.empty_like(x)
        softmax_kernel[(x.shape[0],)](x, mask, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
