# E2: adds to memory that was never written
# task: rowsum
# track: strict
# expect: tiny uninitialised
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def rowsum_kernel(x_ptr, out_ptr, R, C, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = cols < C
    acc = tl.load(out_ptr + cols, mask=mask, other=0.0)
    for r in range(0, R):
        acc += tl.load(x_ptr + r * C + cols, mask=mask, other=0.0)
    tl.store(out_ptr + cols, acc, mask=mask)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        out = torch.empty((x.shape[1],), device=x.device, dtype=x.dtype)
        rowsum_kernel[(1,)](x, out, x.shape[0], x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
