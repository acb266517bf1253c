# P13: the setting of one layer is told by that of another
# task: scale
# track: strict
# expect: full unstable
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        first = torch.backends.cudnn.allow_tf32
        torch.backends.cudnn.rnn.fp32_precision = "ieee"
        scale_kernel[(triton.cdiv(x.numel(), 128) if first else 1,)](x, out, x.numel(), BLOCK=128)
        return out
