# E06: lanes that differ are said to be the same
# task: scale
# track: strict
# expect: tiny false_hint
# without: sanitize
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, total, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    same = tl.max_constancy(offs, 8)
    x = tl.load(x_ptr + row * n + same, mask=mask, other=0.0)
    tl.store(out_ptr + row * n + same, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        scale_kernel[(x.shape[0],)](x, out, x.shape[1], x.numel(), BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
