# task: add
# style: a function made by another one, and a lambda, kept by the constructor
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    y = tl.load(y_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, x + y, mask=mask)


def make_adder(block):
    def run(x, y, out):
        add_kernel[(triton.cdiv(x.numel(), block),)](x, y, out, x.numel(), BLOCK=block)
        return out
    return run


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.add = make_adder(128)
        self.like = lambda t: torch.empty_like(t)

    def forward(self, x, y):
        return self.add(x, y, self.like(x))
