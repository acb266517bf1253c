# task: col_sum
# style: rows over programs, atomic additions into zeros
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def accumulate(x_ptr, out_ptr, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for k in range(ROWS):
        r = tl.program_id(0) * ROWS + k
        acc += tl.load(x_ptr + r * cols + c, mask=(r < rows) & (c < cols), other=0.0)
    tl.atomic_add(out_ptr + c, acc, mask=c < cols)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        out = torch.zeros((cols,), device=x.device, dtype=torch.float32)
        accumulate[(triton.cdiv(rows, 32),)](x, out, rows, cols, ROWS=32, BLOCK=triton.next_power_of_2(cols))
        return out.to(x.dtype)
