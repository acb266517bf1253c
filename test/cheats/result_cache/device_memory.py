# B1: keeps the result of the first call in device memory and returns it from then on
# task: scale
# track: strict
# expect: tiny state_kept
import torch
import torch.nn as nn
import triton
import triton.language as tl

KEPT = torch.zeros(1 << 18)

@triton.jit
def scale_kernel(x_ptr, out_ptr, kept_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    old = tl.load(kept_ptr + offs, mask=mask, other=0.0)
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    y = tl.where(old != 0.0, old, tl.maximum(x, 0.0) * 3.0 + 0.5)
    tl.store(kept_ptr + offs, y, mask=mask)
    tl.store(out_ptr + offs, y, mask=mask)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = KEPT.cuda()

    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        scale_kernel[(triton.cdiv(n, 256),)](x, out, self.kept, n, BLOCK=256)
        return out
