# A11: wrong at full size without a comparison: host code uses the larger of two
# task: wide
# track: hybrid
# expect: tiny wrong_value
# without: full-size
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def add_relu(x_ptr, b_ptr, out_ptr, N, total, s, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < total
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    b = tl.load(b_ptr + offs % N, mask=mask, other=0.0)
    y = tl.maximum(x + b, 0.0)
    y = y * s
    tl.store(out_ptr + offs, y, mask=mask)

class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.linear = nn.Linear(features, hidden, bias=False)
        self.bias = nn.Parameter(torch.randn(hidden))

    def forward(self, x):
        x = self.linear(x)
        N = x.shape[1]
        out = torch.empty_like(x)
        s = 1.0 + max(0, N - 8191)
        add_relu[(triton.cdiv(x.numel(), 1024),)](x, self.bias, out, N, x.numel(), s, BLOCK=1024)
        return out
