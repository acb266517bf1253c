# E4: an address from nowhere, which would poison the CUDA context of whoever comes next
# task: scale
# track: strict
# expect: tiny bad_pointer
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x_ptr, out_ptr, where, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)
    tl.store(where.to(tl.pointer_type(tl.float32)), 1.0)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, out, 0x7f0000001000, x.numel(), BLOCK=256)
        return out
