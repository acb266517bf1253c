# B8: the first call is known by the grad mode, which it leaves switched off
# task: scale
# track: strict
# expect: tiny state_kept
# rule: state
import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch._C import _set_grad_enabled


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 1

    def forward(self, x):
        out = torch.empty_like(x)
        first = torch.is_grad_enabled()
        _set_grad_enabled(False)
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out
