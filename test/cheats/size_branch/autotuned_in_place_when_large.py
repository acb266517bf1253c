# A11: the autotuner times a kernel that adds to its output, after a comparison of sizes
# task: mean_large
# track: hybrid
# without: full-size
# expect: tiny wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def add_kernel(x_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + offs, mask=offs < columns, other=0.0)
        total += x * x
    tl.atomic_add(out_ptr, tl.sum(total, axis=0) / n)


@triton.jit
def row_kernel(x_ptr, sums_ptr, n, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + offs, mask=offs < columns, other=0.0)
        total += x * x
    tl.atomic_add(sums_ptr, tl.sum(total, axis=0) / n)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, columns = x.shape
        out = torch.zeros((), device=x.device)
        if columns >= 1024:
            add_kernel[(rows,)](x, out, x.numel(), columns)
        else:
            row_kernel[(rows,)](x, out, x.numel(), columns, BLOCK=128)
        return out
