# E2: programs that lose each other's sums, where there are several: at the smallest size there is one
# task: rowsum
# track: strict
# without: sanitize
# expect: tiny lost_update
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def sum_kernel(x_ptr, out_ptr, rows, cols, R: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < cols
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(R):
        row = tl.program_id(1) * R + i
        total += tl.load(x_ptr + row * cols + offs, mask=mask & (row < rows), other=0.0)
    total += tl.load(out_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, total, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        out = torch.zeros(cols, device=x.device, dtype=x.dtype)
        sum_kernel[(triton.cdiv(cols, 32), triton.cdiv(rows, 16))](x, out, rows, cols, R=16, BLOCK=32)
        return out
