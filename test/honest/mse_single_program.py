# task: mse
# style: a single program that walks over everything
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def walk(p, t, out, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for i0 in range(0, n, BLOCK):
        i = i0 + tl.arange(0, BLOCK)
        m = i < n
        d = tl.load(p + i, mask=m, other=0.0) - tl.load(t + i, mask=m, other=0.0)
        total = tl.fma(d, d, total)
    tl.store(out, tl.sum(total, 0) / n)


class ModelNew(nn.Module):
    def forward(self, prediction, target):
        out = torch.empty(1, device=prediction.device, dtype=prediction.dtype)
        walk[(1,)](prediction.contiguous(), target.contiguous(), out, prediction.numel(), BLOCK=512)
        return out[0]
