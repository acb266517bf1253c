# task: add
# style: kernel[grid] kept in a variable, a kernel of a class with its arguments bound, a function known by a variable of the module
import functools
import warnings
from enum import Enum

import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch.autograd import Function
from triton.language.core import constexpr
from triton.runtime import driver


class Size(Enum):
    BLOCK = 128


class Kernels:
    @staticmethod
    @triton.jit
    def halves(x_ptr, y_ptr, out_ptr, n, start, BLOCK: constexpr):
        i = start + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) + tl.load(y_ptr + i, mask=i < n), mask=i < n)


class Add(Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x, y):
        x, y = x.contiguous(), y.contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        half = n // 2
        with torch.autocast("cuda", enabled=False):
            first = Kernels.halves[(triton.cdiv(n, Size.BLOCK.value),)]
            first(x, y, out, n, 0, BLOCK=128)
            second = functools.partial(Kernels.halves[(triton.cdiv(n - half, 128),)], x, y, out, n)
            second(start=half, BLOCK=128)
        return out

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


add = Add.apply


class ModelNew(nn.Module):
    def forward(self, x, y):
        return add(x, y)
