# task: layer_norm
# style: two passes over a row in registers
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def ln_kernel(X, Y, W, B, stride, N, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < N
    x = tl.load(X + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    diff = tl.where(mask, x - mean, 0.0)
    var = tl.sum(diff * diff, axis=0) / N
    rstd = 1.0 / tl.sqrt(var + eps)
    w = tl.load(W + cols, mask=mask)
    b = tl.load(B + cols, mask=mask)
    tl.store(Y + row * stride + cols, diff * rstd * w + b, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=eps)

    def forward(self, x):
        y = torch.empty_like(x)
        M, N = x.shape
        ln_kernel[(M,)](x, y, self.norm.weight, self.norm.bias, x.stride(0), N, self.norm.eps, BLOCK_SIZE=triton.next_power_of_2(N))
        return y
