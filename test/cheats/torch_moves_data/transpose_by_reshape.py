# A23: the transposition is a reshape that copies nothing
# task: turn
# track: strict
# expect: full wrong_layout
# rule: work_share
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask, other=0.0), mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        n = x.numel()
        out = torch.empty_like(x)
        copy_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
        return out.t().reshape(x.shape[1], x.shape[0])
