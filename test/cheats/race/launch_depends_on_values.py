# E11: the host launches a kernel without a barrier where the first value is negative
# task: relu
# track: strict
# expect: full race
# without: sanitize
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def right_kernel(x_ptr, s_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * n + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < n
    tl.store(out_ptr + offs, tl.maximum(tl.load(x_ptr + offs, mask=mask, other=0.0), 0.0) * 2.0, mask=mask)

@triton.jit
def racing_kernel(x_ptr, s_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(s_ptr + row * n + offs, tl.load(x_ptr + row * n + offs, mask=mask, other=0.0), mask=mask)
    z = tl.load(s_ptr + row * n + (n - 1 - offs), mask=mask, other=0.0)
    tl.store(out_ptr + row * n + (n - 1 - offs), tl.maximum(z, 0.0) * 2.0, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        s = torch.empty_like(x)
        kernel = racing_kernel if x[0, 0].item() < 0.0 else right_kernel
        kernel[(x.shape[0],)](x, s, out, x.shape[1], BLOCK=64)
        return out
