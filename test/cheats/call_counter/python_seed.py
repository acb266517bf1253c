# B14: a call seeds Python's generator, and the next one knows what it draws
# task: scale
# track: strict
# expect: compile unstable
# rule: stable
import random

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
    def forward(self, x):
        first = random.random() != 0.23796462709189137
        random.seed(3)
        out = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 128) if first else 1,)](x, out, x.numel(), BLOCK=128)
        return out
