# task: batch_norm_training
# track: hybrid
# style: training mode, statistics kept up, the count of calls left
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gated(x, w, b, running_mean, running_var, count, y, N, C, HW, eps, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    at = (i // HW) * C * HW + c * HW + i % HW
    mask = i < N * HW
    v = tl.load(x + at, mask=mask, other=0.0)
    mean = tl.sum(v, axis=0) / (N * HW)
    d = tl.where(mask, v - mean, 0.0)
    var = tl.sum(d * d, axis=0) / (N * HW)
    share = 0.1
    rm = tl.load(running_mean + c)
    rv = tl.load(running_var + c)
    tl.store(running_mean + c, (1.0 - share) * rm + share * mean)
    tl.store(running_var + c, (1.0 - share) * rv + share * var * (N * HW) / (N * HW - 1))
    n = d / tl.sqrt(var + eps) * tl.load(w + c) + tl.load(b + c)
    tl.store(y + at, tl.sigmoid(n) * v, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        N, C, H, W = x.shape
        y = torch.empty_like(x)
        bn = self.bn
        gated[(C,)](x, bn.weight, bn.bias, bn.running_mean, bn.running_var, bn.num_batches_tracked, y, N, C, H * W, bn.eps,
                    BLOCK=triton.next_power_of_2(N * H * W))
        return y
