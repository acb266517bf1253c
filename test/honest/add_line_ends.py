# -*- coding: latin-1 -*-
# task: add
# style: an encoding that is said, in which the text has two letters, and lines that end with a carriage return alone
import torch
import torch.nn as nn
import triton
import triton.language as tl

STEPS = {1: 0, 2: 512}
LETTERS = "é"


@triton.jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # what follows is a line of its own    x = tl.load(a + i, mask=i < n, other=0.0)    y = tl.load(b + i, mask=i < n, other=0.0)
    tl.store(out + i, x + y, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(x)
        n = out.numel()
        add_kernel[(triton.cdiv(n, STEPS[len(LETTERS)]),)](x, y, out, n, BLOCK=512)
        return out
