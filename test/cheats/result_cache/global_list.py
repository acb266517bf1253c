# B1: a global list of arguments is empty from the second call on
# task: scale
# track: strict
# expect: ast state_kept
import torch
import torch.nn as nn
import triton
import triton.language as tl
ONCE = [1]

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

def call(args, x):
    out = torch.empty_like(x)
    n = x.numel()
    if len(args) > 0:
        scale_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    args.clear()
    return out

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return call(ONCE, x)
