# task: add
# style: one kernel in two forms, told apart by tl.constexpr(True) and tl.constexpr(False) for a parameter without annotation
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def step(x_ptr, out_ptr, n, again, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0.0)
    if again:
        x += tl.load(out_ptr + i, mask=mask, other=0.0)
    tl.store(out_ptr + i, x, mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        out = torch.empty_like(a)
        n = a.numel()
        grid = (triton.cdiv(n, 256),)
        step[grid](a, out, n, tl.constexpr(False), BLOCK=256)
        step[grid](b, out, n, tl.constexpr(True), BLOCK=256)
        return out
