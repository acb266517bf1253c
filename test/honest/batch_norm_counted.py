# task: batch_norm_training
# track: hybrid
# style: training mode, the module's own buffers updated with augmented assignments
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gated(x, scale, shift, y, C, HW, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + plane * HW + i, mask=i < HW, other=0.0)
    n = v * tl.load(scale + plane % C) + tl.load(shift + plane % C)
    tl.store(y + plane * HW + i, tl.sigmoid(n) * v, mask=i < HW)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        N, C, H, W = x.shape
        var, mean = torch.var_mean(x, dim=(0, 2, 3), unbiased=False)
        n = N * H * W
        with torch.no_grad():
            self.bn.num_batches_tracked += 1
            self.bn.running_mean += self.bn.momentum * (mean - self.bn.running_mean)
            self.bn.running_var += self.bn.momentum * (var * n / (n - 1) - self.bn.running_var)
        scale = self.bn.weight * torch.rsqrt(var + self.bn.eps)
        y = torch.empty_like(x)
        gated[(N * C, triton.cdiv(H * W, 64))](x, scale, self.bn.bias - mean * scale, y, C, H * W, BLOCK=64)
        return y
