# task: batch_norm_training
# track: hybrid
# style: training mode with nn.BatchNorm2d for its weights, whose running statistics are left as they were
import torch
import torch.nn as nn
import triton
import triton.language as tl


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        N, C, H, W = x.shape
        y = torch.empty_like(x)
        gated_norm[(C,)](x, self.bn.weight, self.bn.bias, y, N, C, H * W, self.bn.eps, BLOCK=256)
        return y


@triton.jit
def gated_norm(x, weight, bias, y, N, C, HW, eps, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    s = tl.zeros([BLOCK], dtype=tl.float32)
    q = tl.zeros([BLOCK], dtype=tl.float32)
    for n in range(N):
        for start in range(0, HW, BLOCK):
            v = tl.load(x + (n * C + c) * HW + start + i, mask=start + i < HW, other=0.0)
            s += v
            q += v * v
    mean = tl.sum(s, axis=0) / (N * HW)
    var = tl.sum(q, axis=0) / (N * HW) - mean * mean
    scale = tl.load(weight + c) / tl.sqrt(var + eps)
    shift = tl.load(bias + c) - mean * scale
    for n in range(N):
        for start in range(0, HW, BLOCK):
            at = (n * C + c) * HW + start + i
            v = tl.load(x + at, mask=start + i < HW, other=0.0)
            tl.store(y + at, tl.sigmoid(v * scale + shift) * v, mask=start + i < HW)
