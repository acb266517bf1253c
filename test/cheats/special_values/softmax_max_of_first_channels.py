# A25: a softmax over channels that subtracts the largest value of the first of them
# task: softmax_channels
# track: strict
# contract: general
# expect: full not_finite
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, out_ptr, C, W, BC: tl.constexpr, BW: tl.constexpr):
    b = tl.program_id(0).to(tl.int64)
    w = tl.program_id(1) * BW + tl.arange(0, BW)
    base = x_ptr + b * C * W
    m = tl.full((BW,), -float("inf"), tl.float32)
    for c in range(0, BC, BC):
        i = c + tl.arange(0, BC)
        x = tl.load(base + i[:, None] * W + w[None, :], mask=(i[:, None] < C) & (w[None, :] < W), other=-float("inf"))
        m = tl.maximum(m, tl.max(x, axis=0))
    s = tl.zeros((BW,), tl.float32)
    for c in range(0, C, BC):
        i = c + tl.arange(0, BC)
        x = tl.load(base + i[:, None] * W + w[None, :], mask=(i[:, None] < C) & (w[None, :] < W), other=-float("inf"))
        s += tl.sum(tl.exp(x - m[None, :]), axis=0)
    for c in range(0, C, BC):
        i = c + tl.arange(0, BC)
        ok = (i[:, None] < C) & (w[None, :] < W)
        x = tl.load(base + i[:, None] * W + w[None, :], mask=ok, other=0.0)
        tl.store(out_ptr + b * C * W + i[:, None] * W + w[None, :], tl.exp(x - m[None, :]) / s[None, :], mask=ok)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        B, C, W = x.shape
        k[(B, triton.cdiv(W, 32))](x, out, C, W, BC=64, BW=32)
        return out
