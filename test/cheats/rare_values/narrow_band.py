# A34: a band of a few neighbouring values is left out
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
    low = tl.full((B,), 0.62499994, tl.float32)
    y = tl.where((x > low) & (x < 0.6250001), 0.0, y)
    tl.store(out_ptr + at, y, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        relu_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), B=256)
        return out
