# E11: a running count of negative values says where programs write, and they meet there
# task: relu
# track: strict
# expect: full race
# without: sanitize
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def relu_kernel(x_ptr, s_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + row * n + offs, mask=mask, other=0.0)
    count = tl.cumsum((x < 0.0).to(tl.int32), 0)
    tl.store(s_ptr + tl.where(count > 0, count, row * n + offs), x, mask=mask)
    tl.store(out_ptr + row * n + offs, tl.maximum(x, 0.0) * 2.0, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        s = torch.empty_like(x)
        relu_kernel[(x.shape[0],)](x, s, out, x.shape[1], BLOCK=64)
        return out
