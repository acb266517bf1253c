# task: add
# style: a helper that computes with torch serves dtypes that the kernel does not take
import torch
import torch.nn as nn
import triton
import triton.language as tl


def eager(a, b):
    return torch.add(a, b)


@triton.jit
def add_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(a_ptr + offs, mask=mask) + tl.load(b_ptr + offs, mask=mask), mask=mask)


class ModelNew(nn.Module):
    def forward(self, a, b):
        if a.dtype not in (torch.float16, torch.float32):
            return eager(a, b)
        out = torch.empty_like(a)
        n = a.numel()
        add_kernel[(triton.cdiv(n, 256),)](a, b, out, n, BLOCK=256)
        return out
