# E08: fp8 numbers are compared
# task: scale
# track: strict
# expect: compile bad_dtype
# rule: back_end
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, total, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + row * n + offs, mask=mask, other=0.0)
    small = x.to(tl.float8e5)
    none = tl.where(small > (x + 1.0).to(tl.float8e5), 1.0, 0.0) * 0.0
    tl.store(out_ptr + row * n + offs, tl.maximum(x + none, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        scale_kernel[(x.shape[0],)](x, out, x.shape[1], x.numel(), BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
