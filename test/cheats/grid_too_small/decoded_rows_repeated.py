# A29: programs beyond the 15,000th repeat it, in a kernel that decodes its rows by division
# task: planes_large
# track: strict
# without: full-size
# expect: full uninitialised
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def conv_kernel(x_ptr, out_ptr, M, area, C: tl.constexpr, BM: tl.constexpr):
    m = tl.minimum(tl.program_id(0), 15000) * BM + tl.arange(0, BM)
    n = m // area
    at = m % area
    c = tl.arange(0, C)
    p = n[:, None] * (C * area) + c[None, :] * area + at[:, None]
    mask = (m < M)[:, None]
    x = tl.load(x_ptr + p, mask=mask, other=0.0)
    tl.store(out_ptr + p, tl.maximum(x, 0.0) * 2.0, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        N, C, H, W = x.shape
        M = N * H * W
        conv_kernel[(triton.cdiv(M, 64),)](x, out, M, H * W, C=C, BM=64)
        return out
