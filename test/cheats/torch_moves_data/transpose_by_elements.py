# A23: torch transposes element by element
# task: turn
# track: strict
# expect: full torch_compute
# rule: work_share
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n, other=0.0), mask=offs < n)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        y = torch.empty(x.shape[1], x.shape[0], device=x.device)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[j, i].copy_(x[i, j])
        out = torch.empty_like(y)
        copy_kernel[(triton.cdiv(y.numel(), 128),)](y, out, y.numel(), BLOCK=128)
        return out
