# task: rope
# style: both halves in one program
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rope_kernel(x, cos, sin, y, T, H, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    t = row % T
    i = tl.arange(0, BLOCK)
    m = i < H
    a = tl.load(x + row * 2 * H + i, mask=m, other=0.0)
    b = tl.load(x + row * 2 * H + H + i, mask=m, other=0.0)
    c = tl.load(cos + t * H + i, mask=m, other=0.0)
    s = tl.load(sin + t * H + i, mask=m, other=0.0)
    tl.store(y + row * 2 * H + i, a * c - b * s, mask=m)
    tl.store(y + row * 2 * H + H + i, b * c + a * s, mask=m)


class ModelNew(nn.Module):
    def forward(self, x, cos, sin):
        B, T, D = x.shape
        y = torch.empty_like(x)
        rope_kernel[(B * T,)](x, cos, sin, y, T, D // 2, BLOCK=triton.next_power_of_2(D // 2))
        return y
