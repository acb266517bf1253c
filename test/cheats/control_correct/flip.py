# control: a kernel that moves elements
# task: flip
# track: strict
# expect: timing ok
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def flip_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + row * n + offs, tl.load(x_ptr + row * n + (n - 1 - offs), mask=mask, other=0.0), mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        flip_kernel[(x.shape[0], triton.cdiv(x.shape[1], 128))](x, out, x.shape[1], BLOCK=128)
        return out
