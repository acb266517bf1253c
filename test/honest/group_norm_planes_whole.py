# task: group_norm_planes
# style: sizes as constants of the kernels, in whole blocks without masks
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def partial_sums(x_ptr, sum_ptr, square_ptr, GROUP: tl.constexpr, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    g = tl.program_id(0)
    part = tl.program_id(1)
    EACH: tl.constexpr = GROUP // PARTS
    s = tl.zeros([BLOCK], dtype=tl.float32)
    q = tl.zeros([BLOCK], dtype=tl.float32)
    for i in range(0, EACH, BLOCK):
        v = tl.load(x_ptr + g * GROUP + part * EACH + i + tl.arange(0, BLOCK))
        s += v
        q += v * v
    tl.store(sum_ptr + g * PARTS + part, tl.sum(s, axis=0))
    tl.store(square_ptr + g * PARTS + part, tl.sum(q, axis=0))


@triton.jit
def normalise(x_ptr, y_ptr, sum_ptr, square_ptr, w_ptr, b_ptr, eps, C: tl.constexpr, EACH: tl.constexpr, HW: tl.constexpr, PARTS: tl.constexpr,
              BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    g = plane // EACH
    c = plane % C
    parts = g * PARTS + tl.arange(0, PARTS)
    mean = tl.sum(tl.load(sum_ptr + parts), axis=0) / (EACH * HW)
    var = tl.sum(tl.load(square_ptr + parts), axis=0) / (EACH * HW) - mean * mean
    scale = tl.load(w_ptr + c) * tl.rsqrt(var + eps)
    shift = tl.load(b_ptr + c) - mean * scale
    at = plane * HW + tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at) * scale + shift)


class ModelNew(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x):
        N, C, H, W = x.shape
        G = self.norm.num_groups
        parts, hw, each = 16, H * W, C // G
        s = torch.empty((N * G, parts), device=x.device, dtype=torch.float32)
        q = torch.empty((N * G, parts), device=x.device, dtype=torch.float32)
        y = torch.empty_like(x)
        partial_sums[(N * G, parts)](x, s, q, each * hw, parts, BLOCK=8192)
        normalise[(N * C, hw // 8192)](x, y, s, q, self.norm.weight, self.norm.bias, self.norm.eps, C, each, hw, parts, BLOCK=8192)
        return y
