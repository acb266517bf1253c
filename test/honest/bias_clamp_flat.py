# task: bias_clamp
# style: the bias is kept without its sizes of one
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bias_clamp(x, bias, y, C, HW, lo, hi, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    b = tl.load(bias + plane % C)
    v = tl.load(x + plane * HW + i, mask=i < HW, other=0.0)
    tl.store(y + plane * HW + i, tl.clamp((v + b).to(tl.float32), lo, hi), mask=i < HW)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(channels))

    def forward(self, x):
        N, C, H, W = x.shape
        y = torch.empty_like(x)
        bias_clamp[(N * C, triton.cdiv(H * W, 64))](x, self.bias, y, C, H * W, -0.5, 1.5, BLOCK=64)
        return y
