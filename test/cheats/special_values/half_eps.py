# A25: a norm that adds half as much to the variance, which values of about one hardly show
# task: norm
# track: strict
# contract: general
# without: multi-input
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def norm_kernel(x_ptr, w_ptr, b_ptr, out_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < D
    x = tl.load(x_ptr + row * D + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / D
    centred = tl.where(mask, x - mean, 0.0)
    y = centred * tl.rsqrt(tl.sum(centred * centred, axis=0) / D + 5e-6)
    w = tl.load(w_ptr + cols, mask=mask, other=1.0)
    b = tl.load(b_ptr + cols, mask=mask, other=0.0)
    tl.store(out_ptr + row * D + cols, y * w + b, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        out = torch.empty_like(x)
        norm_kernel[(x.shape[0],)](x, self.norm.weight, self.norm.bias, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
