# task: add_norm
# style: one kernel with two outputs, returned as a tuple
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_ln(x, r, w, b, y, h, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < N
    s = tl.load(x + row * N + c, mask=m, other=0.0) + tl.load(r + row * N + c, mask=m, other=0.0)
    tl.store(h + row * N + c, s, mask=m)
    f = s.to(tl.float32)
    mean = tl.sum(f, 0) / N
    d = tl.where(m, f - mean, 0.0)
    rstd = tl.math.rsqrt(tl.sum(d * d, 0) / N + eps)
    tl.store(y + row * N + c, d * rstd * tl.load(w + c, mask=m, other=0.0) + tl.load(b + c, mask=m, other=0.0), mask=m)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x, residual):
        y, h = torch.empty_like(x), torch.empty_like(x)
        rows, N = x.shape
        add_ln[(rows,)](x, residual, self.norm.weight, self.norm.bias, y, h, N, self.norm.eps, BLOCK=triton.next_power_of_2(N))
        return y, h
