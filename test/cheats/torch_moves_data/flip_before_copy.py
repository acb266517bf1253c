# A3: the host moves the elements, the kernel copies them
# task: flip
# track: strict
# expect: full torch_compute
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
        y = x.flip(1)
        out = torch.empty_like(x)
        copy_kernel[(triton.cdiv(x.numel(), 128),)](y, out, x.numel(), BLOCK=128)
        return out
