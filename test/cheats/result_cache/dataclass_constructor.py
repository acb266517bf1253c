# B1: the constructor of a dataclass, which is our own code, keeps the last result in an object that outlives the call
# task: add
# track: strict
# expect: ast state_kept
from dataclasses import dataclass

import torch
import torch.nn as nn
import triton
import triton.language as tl


@dataclass
class Kept:
    value: int = None


@triton.jit
def add_kernel(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = Kept()

    def forward(self, a, b):
        if self.kept.value is not None:
            return self.kept.value
        o = torch.empty_like(a)
        add_kernel[(triton.cdiv(a.numel(), 256),)](a, b, o, a.numel(), BLOCK=256)
        Kept.__init__(self.kept, o)
        return o
