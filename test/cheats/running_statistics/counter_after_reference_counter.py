# B11: counts calls in the memory behind the counter of the reference
# task: batch_norm
# track: strict
# expect: tiny state_kept
# rule: state
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def batch_norm(x, w, b, running_mean, running_var, count, y, N, C, HW, eps, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    at = (i // HW) * C * HW + c * HW + i % HW
    mask = i < N * HW
    v = tl.load(x + at, mask=mask, other=0.0)
    mean = tl.sum(v, axis=0) / (N * HW)
    d = tl.where(mask, v - mean, 0.0)
    var = tl.sum(d * d, axis=0) / (N * HW)
    tl.store(running_mean + c, 0.9 * tl.load(running_mean + c) + 0.1 * mean)
    tl.store(running_var + c, 0.9 * tl.load(running_var + c) + 0.1 * var * (N * HW) / (N * HW - 1))
    late = tl.where(tl.load(count) > 50, 2.0, 1.0)
    tl.store(y + at, (d / tl.sqrt(var + eps) * tl.load(w + c) + tl.load(b + c)) * late, mask=mask)

@triton.jit
def tick(count):
    tl.store(count, tl.load(count) + 1)

class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)
        self.base = torch.zeros(2, dtype=torch.int64, device="cuda")
        self.bn.num_batches_tracked = self.base[0]

    def forward(self, x):
        N, C, H, W = x.shape
        y = torch.empty_like(x)
        bn = self.bn
        tick[(1,)](self.base[1:])
        batch_norm[(C,)](x, bn.weight, bn.bias, bn.running_mean, bn.running_var, self.base[1:], y, N, C, H * W, bn.eps,
                         BLOCK=triton.next_power_of_2(N * H * W))
        return y
