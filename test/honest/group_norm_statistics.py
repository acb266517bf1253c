# task: group_norm
# style: statistics in one kernel, application in another
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def stats(x, mean, rstd, size, eps, BLOCK: tl.constexpr):
    g = tl.program_id(0)
    s1 = tl.zeros([BLOCK], tl.float32)
    for k in range(0, size, BLOCK):
        i = k + tl.arange(0, BLOCK)
        s1 += tl.load(x + g * size + i, mask=i < size, other=0.0).to(tl.float32)
    m = tl.sum(s1) / size
    s2 = tl.zeros([BLOCK], tl.float32)
    for k in range(0, size, BLOCK):
        i = k + tl.arange(0, BLOCK)
        d = tl.where(i < size, tl.load(x + g * size + i, mask=i < size, other=0.0).to(tl.float32) - m, 0.0)
        s2 += d * d
    tl.store(mean + g, m)
    tl.store(rstd + g, tl.rsqrt(tl.sum(s2) / size + eps))


@triton.jit
def apply(x, y, mean, rstd, w, b, C, HW, PER, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    g = i // (PER * HW)
    c = i // HW % C
    v = (tl.load(x + i, mask=m, other=0.0) - tl.load(mean + g, mask=m, other=0.0)) * tl.load(rstd + g, mask=m, other=0.0)
    tl.store(y + i, v * tl.load(w + c, mask=m, other=0.0) + tl.load(b + c, mask=m, other=0.0), mask=m)


class ModelNew(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.groups = groups
        self.gn = nn.GroupNorm(groups, channels)

    def forward(self, x):
        N, C, H, W = x.shape
        groups, per = N * self.groups, C // self.groups
        mean = torch.empty(groups, device=x.device, dtype=torch.float32)
        rstd = torch.empty(groups, device=x.device, dtype=torch.float32)
        stats[(groups,)](x, mean, rstd, per * H * W, 1e-5, BLOCK=128)
        y = torch.empty_like(x)
        apply[(triton.cdiv(x.numel(), 256),)](x, y, mean, rstd, self.gn.weight, self.gn.bias, C, H * W, per, x.numel(), BLOCK=256)
        return y
