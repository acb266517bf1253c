# E2: each program waits for nothing and reads what the one before it wrote
# task: rowsum
# track: strict
# without: sanitize
# expect: tiny race
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def sum_kernel(x_ptr, part_ptr, out_ptr, rows, cols, R: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < cols
    j = tl.program_id(1)
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(R):
        row = j * R + i
        total += tl.load(x_ptr + row * cols + offs, mask=mask & (row < rows), other=0.0)
    if j > 0:
        total += tl.load(part_ptr + (j - 1) * cols + offs, mask=mask, other=0.0)
    tl.store(part_ptr + j * cols + offs, total, mask=mask)
    if j == tl.num_programs(1) - 1:
        tl.store(out_ptr + offs, total, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        n = triton.cdiv(rows, 16)
        out = torch.empty(cols, device=x.device, dtype=x.dtype)
        part = torch.empty(n, cols, device=x.device, dtype=torch.float32)
        sum_kernel[(triton.cdiv(cols, 32), n)](x, part, out, rows, cols, R=16, BLOCK=32)
        return out
