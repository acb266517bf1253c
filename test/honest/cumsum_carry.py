# task: cumsum
# style: associative_scan in blocks with a carry
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def scan_rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = tl.zeros((), tl.float32)
    for start in range(0, n, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + c, mask=c < n, other=0.0).to(tl.float32)
        y = tl.associative_scan(x, 0, plus) + carry
        tl.store(y_ptr + row * n + c, y, mask=c < n)
        carry += tl.sum(x, 0)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scan_rows[(x.shape[0],)](x, y, x.shape[1], BLOCK=32)
        return y
