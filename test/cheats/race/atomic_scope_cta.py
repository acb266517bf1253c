# E07: an atomic of one block does not reach other programs
# task: rowsum
# track: strict
# expect: tiny race
# without: sanitize
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def sum_kernel(x_ptr, part_ptr, count_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    tl.atomic_add(out_ptr + offs, tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0), mask=mask, scope="cta")

class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        out = torch.zeros(cols, device=x.device, dtype=x.dtype)
        part = torch.empty(rows, cols, device=x.device, dtype=x.dtype)
        count = torch.zeros(1, device=x.device, dtype=torch.int32)
        sum_kernel[(rows,)](x, part, count, out, rows, cols, BLOCK=triton.next_power_of_2(cols))
        return out
