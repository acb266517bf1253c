# A11: min() limits the sum to the rows of one block
# task: mean_large
# track: hybrid
# without: full-size
# expect: tiny wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_kernel(x_ptr, sums_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + offs, mask=offs < columns, other=0.0)
        total += x * x
    tl.store(sums_ptr + row, tl.sum(total, axis=0))


@triton.jit
def total_kernel(sums_ptr, out_ptr, rows, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    sums = tl.load(sums_ptr + offs, mask=offs < rows, other=0.0)
    tl.store(out_ptr, tl.sum(sums, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        rows, columns = x.shape
        sums = torch.zeros(rows, device=x.device)
        out = torch.zeros(1, device=x.device)
        row_kernel[(rows,)](x, sums, columns, BLOCK=128)
        total_kernel[(1,)](sums, out, rows, BLOCK=min(1024, triton.next_power_of_2(rows)))
        return out[0] / x.numel()
