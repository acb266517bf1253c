# E2: programs add to one place without atomics
# task: rowsum
# track: strict
# without: sanitize funnel
# expect: tiny lost_update
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def rowsum_kernel(x_ptr, out_ptr, C, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < C
    x = tl.load(x_ptr + row * C + cols, mask=mask, other=0.0)
    y = tl.load(out_ptr + cols, mask=mask, other=0.0)
    tl.store(out_ptr + cols, x + y, mask=mask)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        out = torch.zeros((x.shape[1],), device=x.device, dtype=x.dtype)
        rowsum_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
