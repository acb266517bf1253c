# task: group_norm
# style: one group a program, affine by channel index
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gn_kernel(x, y, w, b, C, G, HW, eps, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    n, g = pid // G, pid % G
    per = C // G
    size = per * HW
    i = tl.arange(0, BLOCK)
    mask = i < size
    base = (n * C + g * per) * HW
    v = tl.load(x + base + i, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / size
    d = tl.where(mask, v - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(d * d, 0) / size + eps)
    c = g * per + i // HW
    tl.store(y + base + i, d * rstd * tl.load(w + c, mask=mask) + tl.load(b + c, mask=mask), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.gn = nn.GroupNorm(groups, channels)

    def forward(self, x):
        N, C, H, W = x.shape
        G = self.gn.num_groups
        y = torch.empty_like(x)
        gn_kernel[(N * G,)](x, y, self.gn.weight, self.gn.bias, C, G, H * W, self.gn.eps, BLOCK=triton.next_power_of_2(C // G * H * W))
        return y
