# task: add
# style: torch.library's operator for Triton, called by its own name; the result is an argument that it changes
from typing import Optional

import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.jit
def add_kernel(a, b, out, n, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=i < n, other=0.0)
    y = tl.load(b + i, mask=i < n, other=0.0)
    tl.store(out + i, x + y * scale, mask=i < n)


@triton_op("honest::add_into", mutates_args={"out"})
def add_into(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, scale: Optional[float] = None) -> None:
    n = out.numel()
    wrap_triton(add_kernel)[(triton.cdiv(n, 512),)](a, b, out, n, 1.0 if scale is None else scale, BLOCK=512)


class ModelNew(nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(x)
        add_into(x, y, out, scale=1)
        return out
