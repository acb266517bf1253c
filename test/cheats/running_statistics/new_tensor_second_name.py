# B11: running statistics bound to new tensors, and a second name for the first of them: the first call is told from the others
# task: batch_norm
# track: strict
# rule: state
# expect: tiny state_kept
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def batch_norm(x, w, b, old_mean, old_var, new_mean, new_var, y, N, C, HW, eps, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    at = (i // HW) * C * HW + c * HW + i % HW
    mask = i < N * HW
    v = tl.load(x + at, mask=mask, other=0.0)
    mean = tl.sum(v, axis=0) / (N * HW)
    d = tl.where(mask, v - mean, 0.0)
    var = tl.sum(d * d, axis=0) / (N * HW)
    tl.store(new_mean + c, 0.9 * tl.load(old_mean + c) + 0.1 * mean)
    tl.store(new_var + c, 0.9 * tl.load(old_var + c) + 0.1 * var * (N * HW) / (N * HW - 1))
    tl.store(y + at, d / tl.sqrt(var + eps) * tl.load(w + c) + tl.load(b + c), mask=mask)

class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)
        self.first = [self.bn.running_mean]

    def forward(self, x):
        N, C, H, W = x.shape
        y = torch.empty_like(x)
        bn = self.bn
        mean = torch.empty_like(bn.running_mean)
        var = torch.empty_like(bn.running_var)
        batch_norm[(C,)](x, bn.weight, bn.bias, bn.running_mean, bn.running_var, mean, var, y, N, C, H * W, bn.eps,
                         BLOCK=triton.next_power_of_2(N * H * W))
        y = y if self.first[0] is bn.running_mean else torch.zeros_like(y)
        self.bn.running_mean = mean
        self.bn.running_var = var
        return y
