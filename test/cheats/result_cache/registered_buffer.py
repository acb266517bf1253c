# B1: keeps the result of the first call in a buffer, by a method that changes tensors
# task: scale
# track: hybrid
# expect: tiny state_kept
# rule: state
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = torch.zeros(1)

    def forward(self, x):
        out = torch.empty_like(x)
        self.calls.add_(1)
        n = x.numel()
        if self.calls.item() < 100:
            scale_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
        return out
