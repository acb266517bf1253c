# task: batch_norm
# style: statistics of the batch, running ones left as they are
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def batch_norm(x, w, b, y, N, C, HW, eps, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    at = (i // HW) * C * HW + c * HW + i % HW
    mask = i < N * HW
    v = tl.load(x + at, mask=mask, other=0.0)
    mean = tl.sum(v, axis=0) / (N * HW)
    d = tl.where(mask, v - mean, 0.0)
    var = tl.sum(d * d, axis=0) / (N * HW)
    tl.store(y + at, d / tl.sqrt(var + eps) * tl.load(w + c) + tl.load(b + c), mask=mask)

class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        N, C, H, W = x.shape
        y = torch.empty_like(x)
        bn = self.bn
        batch_norm[(C,)](x, bn.weight, bn.bias, y, N, C, H * W, bn.eps,
                         BLOCK=triton.next_power_of_2(N * H * W))
        return y
