# A11: the host code divides by zero when rows are long
# task: mean_large
# track: hybrid
# without: full-size
# expect: full value_error
# names: at full size
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_kernel(x_ptr, out_ptr, n, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    for i in range(ROWS):
        row = tl.program_id(0) * ROWS + i
        x = tl.load(x_ptr + row * columns + offs, mask=(offs < columns) & (row < rows), other=0.0)
        tl.atomic_add(out_ptr, tl.sum(x * x, axis=0) / n)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, columns = x.shape
        block = triton.next_power_of_2(columns)
        count = 1024 // block
        out = torch.zeros((), device=x.device)
        row_kernel[((rows + count - 1) // count,)](x, out, x.numel(), rows, columns, ROWS=count, BLOCK=block)
        return out
