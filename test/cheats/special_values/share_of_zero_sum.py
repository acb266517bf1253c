# A25: a share of a sum that can be zero, without the small number that the task adds
# task: shares
# track: strict
# contract: general
# without: multi-input
# expect: full not_finite
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, out_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * D + i, mask=i < D, other=0.0)
    q = tl.sum(x * x, axis=0)
    tl.store(out_ptr + row * D + i, x / tl.sum(tl.abs(x), axis=0), mask=i < D)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        k[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
