# task: swiglu
# style: a grid of three axes, one for each dimension
import torch
from torch import nn
import triton
from triton import language as tl


@triton.jit
def silu_mul(g, u, o, T, C, BLOCK_C: tl.constexpr):
    b, t, c = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    cols = c * BLOCK_C + tl.arange(0, BLOCK_C)
    at = (b * T + t) * C + cols
    x = tl.load(g + at, mask=cols < C, other=0.0)
    y = tl.load(u + at, mask=cols < C, other=0.0)
    tl.store(o + at, x / (1 + tl.exp(-x)) * y, mask=cols < C)


class ModelNew(nn.Module):
    def forward(self, gate, up):
        B, T, C = gate.shape
        out = torch.empty_like(gate)
        silu_mul[(B, T, triton.cdiv(C, 64))](gate, up, out, T, C, BLOCK_C=64)
        return out
