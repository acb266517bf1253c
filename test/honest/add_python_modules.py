# task: add
# style: modules of Python and numpy for sizes and forms, einops for a view
import collections.abc
import functools
import itertools
import math
import numpy as np
import torch
import torch.nn as nn
import triton
import triton.language as tl
from einops import rearrange
from torch.nn.modules.utils import _pair


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)


def as_tuple(x):
    return tuple(x) if isinstance(x, collections.abc.Iterable) else (x,)


@functools.lru_cache(maxsize=None)
def blocks(n, block):
    return triton.cdiv(n, block)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = int(np.prod(as_tuple([8, 16]))) * functools.reduce(max, _pair(1))

    def forward(self, x, y):
        n = math.prod(itertools.chain(x.shape))
        out = torch.empty_like(x)
        add_kernel[(blocks(n, self.block),)](x, y, out, n, BLOCK=self.block)
        return rearrange(rearrange(out, "a b -> (a b)"), "(a b) -> a b", a=x.shape[0])
