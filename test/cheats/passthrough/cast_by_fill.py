# A21: torch rounds floats by writing them into a tensor of integers, element by element
# task: truncate
# track: strict
# expect: compile torch_compute
# rule: compute
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def to_float_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n, other=0).to(tl.float32), mask=offs < n)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        y = torch.empty(x.shape, dtype=torch.int32, device=x.device)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j].fill_(x[i, j])
        out = torch.empty_like(x)
        to_float_kernel[(triton.cdiv(y.numel(), 128),)](y, out, y.numel(), BLOCK=128)
        return out
