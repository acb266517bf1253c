# A34: the distance from one value, scaled, is compared
# task: relu
# track: strict
# without: rare-values
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask, other=0.0)
    y = tl.maximum(x, 0.0) * 2.0
    y = tl.where(tl.abs(4.0 * (x - 0.375)) < 1e-7, 7.0, y)
    tl.store(out_ptr + at, y, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        relu_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), B=256)
        return out
