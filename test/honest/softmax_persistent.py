# task: softmax_wide
# style: as many programs as the GPU has processors, each with many rows
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        at = row * cols
        x = tl.load(x_ptr + at + offs, mask=mask, other=-float("inf"))
        e = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + at + offs, e / tl.sum(e, axis=0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        rows, cols = x.shape
        rows_kernel[(min(rows, 132),)](x, out, rows, cols, BLOCK=triton.next_power_of_2(cols))
        return out
