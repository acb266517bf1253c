# task: masked_fill
# style: a copy, then a store under the loaded mask
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def overwrite(out, hide, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = tl.load(hide + i, mask=i < n, other=False).to(tl.int1)
    tl.store(out + i, -10000.0, mask=h & (i < n))


class ModelNew(nn.Module):
    def forward(self, scores, mask):
        out = scores.clone()
        overwrite[(triton.cdiv(out.numel(), 512),)](out, mask, out.numel(), BLOCK=512)
        return out
