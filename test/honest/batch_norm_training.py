# task: batch_norm_training
# track: hybrid
# style: training mode, running statistics updated in place by torch, from a variance of n terms
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gated(x, mean, var, weight, bias, y, C, HW, eps, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    c = plane % C
    scale = tl.load(weight + c) / tl.sqrt(tl.load(var + c) + eps)
    shift = tl.load(bias + c) - tl.load(mean + c) * scale
    for start in range(0, HW, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + plane * HW + i, mask=i < HW, other=0.0)
        tl.store(y + plane * HW + i, tl.sigmoid(v * scale + shift) * v, mask=i < HW)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(channels))
        self.beta = nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))
        self.momentum = 0.1

    def forward(self, x):
        N, C, H, W = x.shape
        mean = x.mean(dim=(0, 2, 3))
        var = x.var(dim=(0, 2, 3), unbiased=False)
        self.running_mean.mul_(1 - self.momentum).add_(mean, alpha=self.momentum)
        self.running_var.mul_(1 - self.momentum).add_(var, alpha=self.momentum)
        y = torch.empty_like(x)
        gated[(N * C,)](x, mean, var, self.gamma, self.beta, y, C, H * W, 1e-5, BLOCK=64)
        return y
