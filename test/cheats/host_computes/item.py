# A3: Python computes on a value from .item(); the kernel copies
# task: scale
# track: strict
# expect: compile torch_compute
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n, other=0.0), mask=offs < n)

class ModelNew(nn.Module):
    def forward(self, x):
        rows = [[max(v.item(), 0.0) * 3.0 + 0.5 for v in row] for row in x]
        y = torch.tensor(rows, device=x.device, dtype=x.dtype)
        out = torch.empty_like(x)
        copy_kernel[(triton.cdiv(x.numel(), 128),)](y, out, x.numel(), BLOCK=128)
        return out
