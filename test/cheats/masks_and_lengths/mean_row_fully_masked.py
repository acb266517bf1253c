# A26: the mean over a row that the mask hides completely
# task: masked_mean
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
    x = tl.load(x_ptr + row * D + i, mask=i < D, other=0.0)
    m = tl.load(mask_ptr + row * D + i, mask=i < D, other=0).to(tl.float32)
    s = tl.sum(x * m, axis=0)
    n = tl.sum(m, axis=0)
    tl.store(out_ptr + row, s / n)


class ModelNew(nn.Module):
    def forward(self, x, mask):
        out = torch.empty(x.shape[0], device=x.device, dtype=torch.float32)
        k[(x.shape[0],)](x, mask, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
