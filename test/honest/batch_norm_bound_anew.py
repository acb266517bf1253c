# task: batch_norm_training
# track: hybrid
# style: training mode, running statistics bound to new tensors: attributes of the model, of a part of it, and .data
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
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        N, C, H, W = x.shape
        n = N * H * W
        var, mean = torch.var_mean(x, dim=(0, 2, 3), correction=0)
        bn = self.bn
        if bn.training:
            bn.running_mean = (1 - bn.momentum) * bn.running_mean + bn.momentum * mean.detach()
            self.bn.running_var.data = torch.lerp(bn.running_var, var.detach() * (n / (n - 1)), bn.momentum)
            self.bn.num_batches_tracked = self.bn.num_batches_tracked + 1
        y = torch.empty_like(x)
        gated[(N * C,)](x, mean, var, bn.weight, bn.bias, y, C, H * W, bn.eps, BLOCK=64)
        return y
