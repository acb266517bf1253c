# task: add
# style: the constructor keeps the kernel, forward the kernel with its grid
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    y = tl.load(y_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, x + y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = add_kernel

    def forward(self, x, y):
        out = torch.empty_like(x)
        kernel = self.kernel
        bound = kernel[(triton.cdiv(x.numel(), 512),)]
        bound(x, y, out, x.numel(), BLOCK=512)
        return out
