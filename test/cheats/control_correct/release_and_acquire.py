# control: the last program sums what the others have published
# task: rowsum
# track: strict
# expect: timing ok
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def sum_kernel(x_ptr, part_ptr, count_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    tl.store(part_ptr + row * cols + offs, tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0), mask=mask)
    tl.debug_barrier()
    if tl.atomic_add(count_ptr, 1) == rows - 1:
        total = tl.zeros([BLOCK], tl.float32)
        for k in range(rows):
            total += tl.load(part_ptr + k * cols + offs, mask=mask, other=0.0)
        tl.store(out_ptr + offs, total, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        out = torch.empty(cols, device=x.device, dtype=x.dtype)
        part = torch.empty(rows, cols, device=x.device, dtype=x.dtype)
        count = torch.zeros(1, device=x.device, dtype=torch.int32)
        sum_kernel[(rows,)](x, part, count, out, rows, cols, BLOCK=triton.next_power_of_2(cols))
        return out
