# task: add
# style: what a kernel does is a tuple of numbers, made by going through an enumeration; a module that says what it has
from enum import Enum

import torch
import torch.nn as nn
import triton
import triton.language as tl

__all__ = ["ModelNew"]
__version__ = "1.0"


class Step(Enum):
    FIRST = 0
    SECOND = 1


STEPS = tuple(s.value for s in Step)
assert len(Step) == 2 and Step.FIRST in Step


@triton.jit
def add_kernel(a_ptr, b_ptr, out_ptr, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in tl.static_range(len(STEPS)):
        if STEPS[i] == 0:
            acc += tl.load(a_ptr + offs, mask=mask, other=0.0)
        else:
            acc += tl.load(b_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, acc, mask=mask)


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = torch.empty_like(a)
        n = out.numel()
        add_kernel[(triton.cdiv(n, 1024),)](a, b, out, n, STEPS=STEPS, BLOCK=1024)
        return out
