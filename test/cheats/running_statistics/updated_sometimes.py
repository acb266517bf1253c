# B11: buffers that are left as they were by some calls and written by others
# task: batch_norm
# track: hybrid
# rule: state
# expect: full wrong_value
# says: this call leaves buffers unchanged that another call changed
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
    rm = tl.load(running_mean + c)
    rv = tl.load(running_var + c)
    share = tl.where(tl.load(count) > 20000, 0.0, 0.1)
    tl.store(running_mean + c, rm + share * (mean - rm))
    tl.store(running_var + c, rv + share * (var * (N * HW) / (N * HW - 1) - rv))
    tl.store(y + at, d / tl.sqrt(var + eps) * tl.load(w + c) + tl.load(b + c), mask=mask)

class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        N, C, H, W = x.shape
        y = torch.empty_like(x)
        bn = self.bn
        batch_norm[(C,)](x, bn.weight, bn.bias, bn.running_mean, bn.running_var, bn.num_batches_tracked, y, N, C, H * W, bn.eps,
                         BLOCK=triton.next_power_of_2(N * H * W))
        if bn.num_batches_tracked.item() <= 20000:
            bn.num_batches_tracked += 1
        return y
