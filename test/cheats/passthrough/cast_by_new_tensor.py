# A21: torch rounds floats by making a tensor of integers of them
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
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask, other=0).to(tl.float32), mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.tensor(x, dtype=torch.int32)
        out = torch.empty_like(x)
        n = x.numel()
        to_float_kernel[(triton.cdiv(n, 256),)](y, out, n, BLOCK=256)
        return out
