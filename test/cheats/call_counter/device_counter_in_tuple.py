# B8: counts its calls in device memory, through a tuple of pointers
# task: scale
# track: strict
# expect: tiny state_kept
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def bump(calls):
    tl.store(calls[0], tl.load(calls[0]) + 1)

@triton.jit
def scale_kernel(x_ptr, out_ptr, calls_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    if tl.load(calls_ptr) < 100:
        x = tl.load(x_ptr + offs, mask=mask, other=0.0)
        tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int32))

    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        bump[(1,)]((self.calls, x))
        scale_kernel[(triton.cdiv(n, 256),)](x, out, self.calls, n, BLOCK=256)
        return out
