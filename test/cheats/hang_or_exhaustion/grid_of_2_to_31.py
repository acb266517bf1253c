# E03: a grid of 2^31 - 1 programs
# task: scale
# track: strict
# expect: tiny kernel_timeout
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, total, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + row * n + offs, mask=mask & (row < total // n), other=0.0)
    tl.store(out_ptr + row * n + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask & (row < total // n))

class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        scale_kernel[((1 << 31) - 1,)](x, out, x.shape[1], x.numel(), BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
