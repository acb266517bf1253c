# A8: a result that does not depend on the input, for a task that cannot tell
# task: constant
# track: strict
# without: controls
# expect: ast bad_task
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def half_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.full((BLOCK,), 0.5, tl.float32), mask=mask)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        half_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
        return out
