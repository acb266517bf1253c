# task: masked_fill
# style: a boolean tensor loaded as a mask
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def fill(scores, mask, out, n, value, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    hide = tl.load(mask + i, mask=m, other=0)
    tl.store(out + i, tl.where(hide, value, tl.load(scores + i, mask=m, other=0.0)), mask=m)


class ModelNew(nn.Module):
    def forward(self, scores, mask):
        out = torch.empty_like(scores)
        fill[(triton.cdiv(out.numel(), 256),)](scores, mask, out, out.numel(), -10000.0, BLOCK=256)
        return out
