# E12: an argument asks a property, which gives another one other memory while a kernel is launched with it
# task: scale
# track: strict
# expect: compile unsupported
import torch
import torch.nn as nn
import triton
import triton.language as tl

class Late(tl.constexpr):
    def __init__(self, t):
        self.t = t

    @property
    def value(self):
        self.t.data = torch.zeros(5, device="cuda")
        return 256


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        scale_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=Late(out))
        return out
