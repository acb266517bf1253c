# A11: correct only for one iteration of its loop, which few channels need
# task: conv_softmax
# track: hybrid
# expect: tiny wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, C, S, BC: tl.constexpr, BS: tl.constexpr):
    n = tl.program_id(0)
    s = tl.program_id(1) * BS + tl.arange(0, BS)
    x_ptr += n * C * S
    y_ptr += n * C * S
    top = tl.full((BS,), float("-inf"), tl.float32)
    total = tl.zeros((BS,), tl.float32)
    for c0 in range(0, C, BC):
        c = c0 + tl.arange(0, BC)
        x = tl.load(x_ptr + c[:, None] * S + s[None, :], mask=(c < C)[:, None] & (s < S)[None, :], other=float("-inf"))
        new = tl.maximum(top, tl.max(x, 0))
        total = total + tl.sum(tl.exp(x - new[None, :]), 0)
        top = new
    for c0 in range(0, C, BC):
        c = c0 + tl.arange(0, BC)
        mask = (c < C)[:, None] & (s < S)[None, :]
        x = tl.load(x_ptr + c[:, None] * S + s[None, :], mask=mask, other=0.0)
        tl.store(y_ptr + c[:, None] * S + s[None, :], tl.exp(x - top[None, :]) / total[None, :], mask=mask)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)

    def forward(self, x):
        x = self.conv(x)
        N, C, H, W = x.shape
        y = torch.empty_like(x)
        softmax_kernel[(N, triton.cdiv(H * W, 64))](x, y, C, H * W, BC=64, BS=64)
        return y
