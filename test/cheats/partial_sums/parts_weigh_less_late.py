# A33: two launches: elements from 524288 on count a little less
# task: row_norm_large
# track: strict
# without: full-size
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def part_kernel(x_ptr, s_ptr, q_ptr, n, parts, BLOCK: tl.constexpr, STEPS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    s = tl.zeros((BLOCK,), dtype=tl.float32)
    q = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(STEPS):
        offs = (part * STEPS + i) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=0.0)
        s += x * (1.0 - (offs >> 19) * 0.01)
        q += x * x * (1.0 - (offs >> 19) * 0.01)
    tl.store(s_ptr + row * parts + part, tl.sum(s, 0))
    tl.store(q_ptr + row * parts + part, tl.sum(q, 0))


@triton.jit
def norm_kernel(x_ptr, y_ptr, s_ptr, q_ptr, n, parts, eps, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    p = tl.arange(0, PARTS)
    mean = tl.sum(tl.load(s_ptr + row * parts + p, mask=p < parts, other=0.0), 0) / n
    square = tl.sum(tl.load(q_ptr + row * parts + p, mask=p < parts, other=0.0), 0) / n
    inv = 1.0 / tl.sqrt(square - mean * mean + eps)
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=0.0)
    tl.store(y_ptr + row * n + offs, (x - mean) * inv, mask=offs < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.eps = 1e-5

    def forward(self, x):
        rows, n = x.shape
        parts = triton.cdiv(n, 1024 * 8)
        s = torch.empty((rows, parts), device=x.device, dtype=torch.float32)
        q = torch.empty((rows, parts), device=x.device, dtype=torch.float32)
        y = torch.empty_like(x)
        part_kernel[(rows, parts)](x, s, q, n, parts, BLOCK=1024, STEPS=8)
        norm_kernel[(rows, triton.cdiv(n, 1024))](x, y, s, q, n, parts, self.eps, BLOCK=1024, PARTS=1024)
        return y
