# A26: the maximum over a row that the mask hides completely
# task: masked_max
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
    m = tl.load(mask_ptr + row * D + i, mask=i < D, other=0)
    tl.store(out_ptr + row, tl.max(tl.where(m != 0, x, -float("inf")), axis=0))


class ModelNew(nn.Module):
    def forward(self, x, mask):
        out = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        k[(x.shape[0],)](x, mask, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
