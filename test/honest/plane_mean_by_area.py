# task: plane_mean
# style: the kernel follows from the product of two sizes; the one for small planes does not compile
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def small_kernel(x_ptr, w_ptr, out_ptr, C, area, scale):
    plane = tl.program_id(0)
    x = tl.load(x_ptr + plane * area + tl.arange(0, area))
    tl.store(out_ptr + plane, tl.sum(x) * scale / area * tl.load(w_ptr + plane % C))


@triton.jit
def large_kernel(x_ptr, w_ptr, out_ptr, C, area, scale, BLOCK: tl.constexpr):
    plane = tl.program_id(0).to(tl.int64)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, area, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + plane * area + offs, mask=offs < area, other=0.0)
    tl.store(out_ptr + plane, tl.sum(acc, axis=0) * scale / area * tl.load(w_ptr + plane % C))


class ModelNew(nn.Module):
    def __init__(self, channels, scale):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels))
        self.scale = scale

    def forward(self, x):
        N, C, H, W = x.shape
        out = torch.empty((N, C), device=x.device, dtype=x.dtype)
        if H * W >= 16384:
            large_kernel[(N * C,)](x, self.weight, out, C, H * W, self.scale, BLOCK=1024)
        else:
            small_kernel[(N * C,)](x, self.weight, out, C, H * W, self.scale)
        return out
