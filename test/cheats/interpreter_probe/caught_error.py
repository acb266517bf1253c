# P12: asks whether a call fails
# task: scale
# track: strict
# expect: compile unstable
import torch
import torch.nn as nn
import triton
import triton.language as tl

try:
    len(torch)
    there = True
except TypeError:
    there = False

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

@triton.jit
def wrong_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, x * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        kernel = wrong_kernel if there else scale_kernel
        kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
        return out
