# task: softmax_wide
# style: a kernel for narrow rows that the task never comes to, and that does not compile
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def narrow_kernel(x_ptr, out_ptr, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tops = tl.zeros((ROWS,), dtype=tl.float32)
    for r in range(ROWS):
        row = tl.program_id(0) * ROWS + r
        x = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=-float("inf"))
        tops = tl.where(tl.arange(0, ROWS) == r, tl.max(x, axis=0), tops)
    for r in range(ROWS):
        row = tl.program_id(0) * ROWS + r
        x = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=-float("inf"))
        e = tl.exp(x - tops[r])
        tl.store(out_ptr + row * cols + offs, e / tl.sum(e, axis=0), mask=offs < cols)


@triton.jit
def wide_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    top = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        top = tl.maximum(top, tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=-float("inf")))
    most = tl.max(top, axis=0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        total += tl.exp(tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=-float("inf")) - most)
    scale = 1.0 / tl.sum(total, axis=0)
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=0.0)
        tl.store(out_ptr + row * cols + offs, tl.exp(x - most) * scale, mask=offs < cols)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        rows, cols = x.shape
        if cols <= 2048:
            narrow_kernel[(rows // 4,)](x, out, rows, cols, ROWS=4, BLOCK=triton.next_power_of_2(cols))
        else:
            wide_kernel[(rows,)](x, out, cols, BLOCK=2048, num_warps=8)
        return out
