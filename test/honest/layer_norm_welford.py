# task: layer_norm
# style: tl.reduce with a combine function of three values
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def combine(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    n = n_a + n_b
    delta = mean_b - mean_a
    share = tl.where(n == 0.0, 0.0, n_b / n)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * n_a * share, n


@triton.jit
def welford_norm(x_ptr, y_ptr, w_ptr, b_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    live = c < N
    x = tl.load(x_ptr + row * N + c, mask=live, other=0.0).to(tl.float32)
    zero = tl.zeros([BLOCK], tl.float32)
    mean, m2, count = tl.reduce((x, zero, tl.where(live, 1.0, 0.0)), 0, combine)
    y = (x - mean) * tl.rsqrt(m2 / count + eps)
    y = y * tl.load(w_ptr + c, mask=live, other=1.0) + tl.load(b_ptr + c, mask=live, other=0.0)
    tl.store(y_ptr + row * N + c, y, mask=live)


class ModelNew(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=eps)

    def forward(self, x):
        y = torch.empty_like(x)
        rows, N = x.shape
        welford_norm[(rows,)](x, y, self.norm.weight, self.norm.bias, N, self.norm.eps, BLOCK=triton.next_power_of_2(N))
        return y
