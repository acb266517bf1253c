# task: pool_rest
# style: windows that leave a rest unread along each axis: 18 of 20 elements are read, which is 0.729 of the input
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def fused_erf_swiglu_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    x = tl.erf(x)
    y = tl.load(y_ptr + offs, mask=mask, other=0.0)
    x = x * tl.sigmoid(x) * y
    tl.store(out_ptr + offs, x, mask=mask)

@triton.jit
def avg_pool_kernel(x_ptr, out_ptr, n, D, H, W, OD, OH, OW, KD: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, SD: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr, PD: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    ow = offs % OW
    oh = offs // OW % OH
    oz = offs // (OH * OW) % OD
    nc = offs // (OD * OH * OW)
    base = x_ptr + nc.to(tl.int64) * (D * H * W)
    x = tl.zeros((BLOCK,), dtype=tl.float32)
    for kz in range(KD):
        for kh in range(KH):
            for kw in range(KW):
                iz = oz * SD - PD + kz
                ih = oh * SH - PH + kh
                iw = ow * SW - PW + kw
                p = tl.load(base + ((iz * H + ih) * W + iw), mask=mask & (iz >= 0) & (iz < D) & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W), other=0.0)
                x += p
    x = x / (KD * KH * KW)
    tl.store(out_ptr + offs, x, mask=mask)

@triton.jit
def sum_square_kernel(x_ptr, out_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    r = 0.0
    for start in range(0, D, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < D
        x = tl.load(x_ptr + row * D + cols, mask=mask, other=0.0)
        r += tl.sum(x * x, axis=0)
    tl.store(out_ptr + row, r)

@triton.jit
def softmax_kernel(x_ptr, out_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < D
    x = tl.load(x_ptr + row * D + cols, mask=mask, other=float('-inf'))
    x = tl.exp(x - tl.max(x, axis=0))
    x = x / tl.sum(x, axis=0)
    tl.store(out_ptr + row * D + cols, x, mask=mask)

class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x, y):
        h1 = torch.empty_like(x)
        grid = (triton.cdiv(x.numel(), 1024),)
        fused_erf_swiglu_kernel[grid](x, y, h1, x.numel(), BLOCK=1024)
        KD, KH, KW = 3, 3, 3
        SD, SH, SW = 3, 3, 3
        PD, PH, PW = 0, 0, 0
        OD = (h1.shape[2] + 2 * PD - KD) // SD + 1
        OH = (h1.shape[3] + 2 * PH - KH) // SH + 1
        OW = (h1.shape[4] + 2 * PW - KW) // SW + 1
        h2 = torch.empty((h1.shape[0], h1.shape[1], OD, OH, OW), device=h1.device, dtype=h1.dtype)
        grid = (triton.cdiv(h2.numel(), 512),)
        avg_pool_kernel[grid](h1, h2, h2.numel(), h1.shape[2], h1.shape[3], h1.shape[4], OD, OH, OW, KD=KD, KH=KH, KW=KW, SD=SD, SH=SH, SW=SW, PD=PD, PH=PH, PW=PW, BLOCK=512)
        h3 = torch.empty(h2.shape[:2] + (1, 1, 1), device=h2.device, dtype=h2.dtype)
        grid = (h2.shape[0] * h2.shape[1],)
        sum_square_kernel[grid](h2, h3, h2.shape[2:].numel(), BLOCK=4096, num_warps=8)
        out = torch.empty_like(h3)
        grid = (h3.shape[0],)
        softmax_kernel[grid](h3, out, h3.shape[1], BLOCK=triton.next_power_of_2(h3.shape[1]))
        return out
