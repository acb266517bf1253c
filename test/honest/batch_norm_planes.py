# task: batch_norm
# style: one plane a program, statistics loaded as scalars
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bn_relu(x, y, mean, var, weight, bias, C, HW, eps, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    c = plane % C
    scale = tl.load(weight + c) / tl.sqrt(tl.load(var + c) + eps)
    shift = tl.load(bias + c) - tl.load(mean + c) * scale
    i = tl.arange(0, BLOCK)
    v = tl.load(x + plane * HW + i, mask=i < HW, other=0.0)
    tl.store(y + plane * HW + i, tl.maximum(v * scale + shift, 0.0), mask=i < HW)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)
        self.eval()

    def forward(self, x):
        N, C, H, W = x.shape
        y = torch.empty_like(x)
        bn = self.bn
        bn_relu[(N * C,)](x, y, bn.running_mean, bn.running_var, bn.weight, bn.bias, C, H * W, bn.eps, BLOCK=triton.next_power_of_2(H * W))
        return y
