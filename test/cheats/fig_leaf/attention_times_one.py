# A24: a fig leaf: attention in its parts, all of them the library's, and a kernel that multiplies by one
# task: attention
# track: hybrid
# expect: full fig_leaf
# rule: work_share
import math

import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def once_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n, other=0.0) * 1.0, mask=offs < n)

class ModelNew(nn.Module):
    def forward(self, q, k, v):
        y = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1)), dim=-1)
        y = torch.matmul(y, v)
        out = torch.empty_like(y)
        once_kernel[(triton.cdiv(y.numel(), 1024),)](y, out, y.numel(), BLOCK=1024)
        return out
