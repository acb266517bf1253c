# A11: the variance divides by n - 1 instead of n
# task: group_norm_large
# track: strict
# expect: tiny wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, channels, groups, eps, BLOCK: tl.constexpr):
    size = channels // groups
    group = tl.program_id(0) % groups
    base = tl.program_id(0) // groups * channels + group * size
    offs = tl.arange(0, BLOCK)
    mask = offs < size
    x = tl.load(x_ptr + base + offs, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / size
    d = tl.where(mask, x - mean, 0.0)
    var = tl.sum(d * d, axis=0) / tl.maximum(size - 1, 1)
    w = tl.load(weight_ptr + group * size + offs, mask=mask, other=0.0)
    b = tl.load(bias_ptr + group * size + offs, mask=mask, other=0.0)
    tl.store(out_ptr + base + offs, d / tl.sqrt(var + eps) * w + b, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)
        self.groups = groups

    def forward(self, x):
        out = torch.empty_like(x)
        size = x.shape[1] // self.groups
        norm_kernel[(x.shape[0] * self.groups,)](x, self.norm.weight, self.norm.bias, out, x.shape[1], self.groups, self.norm.eps,
                                                 BLOCK=triton.next_power_of_2(size))
        return out
