# task: bias_clamp
# style: minimum and maximum, constants in the kernel, one-element tuple grid from a method
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, b_ptr, y_ptr, n_elements, plane, channels, BLOCK: tl.constexpr = 512):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n_elements
    c = i // plane % channels
    v = tl.load(x_ptr + i, mask=live, other=0.0) + tl.load(b_ptr + c, mask=live, other=0.0)
    v = tl.minimum(tl.maximum(v, -0.5), 1.5)
    tl.store(y_ptr + i, v, mask=live)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(channels, 1, 1))

    @staticmethod
    def grid(n):
        return ((n + 511) // 512,)

    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        kernel[self.grid(n)](x, self.bias, y, n, x.shape[2] * x.shape[3], x.shape[1])
        return y
