# A25: a softmax that subtracts the largest value of its first block
# task: softmax_large
# track: strict
# contract: general
# without: multi-input
# expect: full not_finite
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, out_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    m = tl.max(tl.load(x_ptr + row * D + i, mask=i < D, other=-float("inf")), axis=0)
    s = tl.zeros((BLOCK,), tl.float32)
    for c in range(0, D, BLOCK):
        i = c + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * D + i, mask=i < D, other=-float("inf"))
        s += tl.exp(x - m)
    s = tl.sum(s, axis=0)
    for c in range(0, D, BLOCK):
        i = c + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * D + i, mask=i < D, other=-float("inf"))
        tl.store(out_ptr + row * D + i, tl.exp(x - m) / s, mask=i < D)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        k[(x.shape[0],)](x, out, x.shape[1], BLOCK=1024)
        return out
