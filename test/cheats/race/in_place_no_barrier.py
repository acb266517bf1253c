# E05: lanes overwrite what others have yet to load
# task: flip
# track: strict
# expect: tiny race
# without: sanitize
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def flip_kernel(x_ptr, s_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + row * n + offs, tl.load(x_ptr + row * n + offs, mask=mask, other=0.0), mask=mask)
    tl.debug_barrier()
    y = tl.load(out_ptr + row * n + (n - 1 - offs), mask=mask, other=0.0)
    tl.store(out_ptr + row * n + offs, y, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        s = torch.empty_like(x)
        flip_kernel[(x.shape[0],)](x, s, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
