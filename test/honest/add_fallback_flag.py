# task: add
# style: a flag of the constructor chooses between torch and the kernel
import torch
import torch.nn as nn
import triton
import triton.language as tl
import torch.nn.functional as F

HAS_TRITON = True


@triton.jit
def add_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(a_ptr + offs, mask=mask) + tl.load(b_ptr + offs, mask=mask), mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.use_triton = True

    def forward(self, a, b):
        if not self.use_triton or not HAS_TRITON:
            return F.relu(a + b) - F.relu(-(a + b))
        out = torch.empty_like(a)
        n = a.numel()
        add_kernel[(triton.cdiv(n, 256),)](a, b, out, n, BLOCK=256)
        return out
