# A10: no affine part, and no parameters that new weights could be put into
# task: norm
# track: strict
# without: reweight
# expect: tiny weights_ignored
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def norm_kernel(x_ptr, out_ptr, n, EPS, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + row * n + offs, mask=mask, other=0.0)
    mean = tl.sum(x) / n
    d = tl.where(mask, x - mean, 0.0)
    var = tl.sum(d * d) / n
    tl.store(out_ptr + row * n + offs, d / tl.sqrt(var + 1e-5), mask=mask)

class ModelNew(nn.Module):
    def __init__(self, *args):
        super().__init__()
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.shape[-1]
        norm_kernel[(x.numel() // n,)](x, out, n, 1e-5, BLOCK=triton.next_power_of_2(n))
        return out
