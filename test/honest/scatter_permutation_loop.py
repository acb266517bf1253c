# task: scatter_permutation
# style: places read from memory, a fixed grid with a loop over blocks
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scatter_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    for k in range(0, tl.cdiv(n, BLOCK * 1024)):
        offs = (k * 1024 + pid) * BLOCK + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask, other=0.0)
        at = tl.load(index_ptr + offs, mask=mask, other=0)
        tl.store(out_ptr + at, x * 2.0 + 1.0, mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, index):
        n = x.numel()
        out = torch.empty_like(x)
        scatter_kernel[(1024,)](x, index, out, n, BLOCK=128)
        return out
