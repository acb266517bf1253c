# D9: writes over what lies around its buffers, where a counter of errors might be
# task: scale
# track: strict
# expect: tiny out_of_bounds
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
    tl.store(out_ptr - 1 - tl.arange(0, BLOCK), tl.zeros([BLOCK], tl.float32))

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out
