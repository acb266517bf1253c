# B14: one process in six has a kernel that is wrong
# task: scale
# track: strict
# expect: compile unstable
# rule: stable
import random

import torch
import torch.nn as nn
import triton
import triton.language as tl

FACTOR = random.choice([3.0, 3.0, 3.0, 3.0, 3.0, 2.0])
K = tl.constexpr(FACTOR)

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * K + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
        return out
