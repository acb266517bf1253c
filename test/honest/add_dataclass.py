# task: add
# style: sizes of blocks in a dataclass
import torch
import torch.nn as nn
import triton
import triton.language as tl
from dataclasses import dataclass


@dataclass
class Config:
    block: int = 256
    warps: int = 4


@triton.jit
def add_kernel(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.cfg = Config()

    def forward(self, x, y):
        o = torch.empty_like(x)
        n = x.numel()
        add_kernel[(triton.cdiv(n, self.cfg.block),)](x, y, o, n, BLOCK=self.cfg.block, num_warps=self.cfg.warps)
        return o
