# task: conv_once
# style: one image, norms over all of it: no axis of the task can be reduced
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def conv_clamp_max_gelu_gate_kernel(x_ptr, w_ptr, b_ptr, out_ptr, M, K, C, OC, D, H, W, OD, OH, OW, alpha, HAS_BIAS: tl.constexpr, KD: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, SD: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr, PD: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr, LD: tl.constexpr, LH: tl.constexpr, LW: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    offs_m = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    offs_n = tl.program_id(1) * BN + tl.arange(0, BN)
    ow = offs_m % OW
    oh = offs_m // OW % OH
    oz = offs_m // (OH * OW) % OD
    n = offs_m // (OD * OH * OW)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        offs_k = k + tl.arange(0, BK)
        kw = offs_k % KW
        kh = offs_k // KW % KH
        kz = offs_k // (KH * KW) % KD
        c = offs_k // (KD * KH * KW)
        iz = oz[:, None] * SD - PD + kz[None, :] * LD
        ih = oh[:, None] * SH - PH + kh[None, :] * LH
        iw = ow[:, None] * SW - PW + kw[None, :] * LW
        inside = (offs_m[:, None] < M) & (offs_k[None, :] < K) & (iz >= 0) & (iz < D) & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
        a = tl.load(x_ptr + ((((n[:, None] * C + c[None, :]) * D + iz) * H + ih) * W + iw), mask=inside, other=0.0)
        b = tl.load(w_ptr + offs_n[None, :] * K + offs_k[:, None], mask=(offs_k[:, None] < K) & (offs_n[None, :] < OC), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    if HAS_BIAS:
        acc += tl.load(b_ptr + offs_n, mask=offs_n < OC, other=0.0)[None, :]
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < OC)
    at = (n[:, None] * OC + offs_n[None, :]) * (OD * OH * OW) + (offs_m % (OD * OH * OW))[:, None]
    acc = tl.minimum(acc, alpha)
    acc = 0.5 * acc * acc * (1.0 + tl.erf(acc * 0.7071067811865476))
    tl.store(out_ptr + at, acc, mask=mask)

@triton.jit
def conv_transpose_clamp_max_prelu_kernel(x_ptr, w_ptr, b_ptr, prelu_ptr, out_ptr, M, K, C, OC, D, H, W, OD, OH, OW, ND, NH, NW, prelu_n, KD: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, SD: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr, PD: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr, TD: tl.constexpr, TH: tl.constexpr, TW: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    offs_m = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    offs_n = tl.program_id(1) * BN + tl.arange(0, BN)
    phase = tl.program_id(2)
    pw = phase % SW
    ph = phase // SW % SH
    pz = phase // (SH * SW) % SD
    qw = offs_m % NW
    qh = offs_m // NW % NH
    qz = offs_m // (NH * NW) % ND
    n = offs_m // (ND * NH * NW)
    oz = qz * SD + pz
    oh = qh * SH + ph
    ow = qw * SW + pw
    rows = (offs_m < M) & (oz < OD) & (oh < OH) & (ow < OW)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        offs_k = k + tl.arange(0, BK)
        jw = offs_k % TW
        jh = offs_k // TW % TH
        jz = offs_k // (TH * TW) % TD
        c = offs_k // (TD * TH * TW)
        kz = jz * SD + (pz + PD) % SD
        kh = jh * SH + (ph + PH) % SH
        kw = jw * SW + (pw + PW) % SW
        valid = (offs_k < K) & (kz < KD) & (kh < KH) & (kw < KW)
        iz = (oz[:, None] + PD - kz[None, :]) // SD
        ih = (oh[:, None] + PH - kh[None, :]) // SH
        iw = (ow[:, None] + PW - kw[None, :]) // SW
        inside = rows[:, None] & valid[None, :] & (iz >= 0) & (iz < D) & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
        a = tl.load(x_ptr + ((((n[:, None] * C + c[None, :]) * D + iz) * H + ih) * W + iw), mask=inside, other=0.0)
        b = tl.load(w_ptr + (c[:, None] * OC + offs_n[None, :]) * (KD * KH * KW) + ((kz * KH + kh) * KW + kw)[:, None], mask=valid[:, None] & (offs_n[None, :] < OC), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    acc += tl.load(b_ptr + offs_n, mask=offs_n < OC, other=0.0)[None, :]
    mask = rows[:, None] & (offs_n[None, :] < OC)
    at = (n[:, None] * OC + offs_n[None, :]) * (OD * OH * OW) + ((oz * OH + oh) * OW + ow)[:, None]
    acc = tl.minimum(acc, 1)
    prelu = tl.load(prelu_ptr + offs_n % prelu_n, mask=offs_n < OC, other=0.0)
    acc = tl.where(acc > 0.0, acc, acc * prelu[None, :])
    tl.store(out_ptr + at, acc, mask=mask)

@triton.jit
def instance_norm_hardtanh_const_prelu_kernel(x_ptr, prelu2_ptr, out_ptr, D, prelu2_n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    mean = 0.0
    m2 = 0.0
    for start in range(0, D, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < D
        x = tl.load(x_ptr + row * D + cols, mask=mask, other=0.0)
        count = tl.minimum(D - start, BLOCK)
        part = tl.sum(x, axis=0) / count
        dx = tl.where(mask, x - part, 0.0)
        delta = part - mean
        mean += delta * count / (start + count)
        m2 += tl.sum(dx * dx, axis=0) + delta * delta * start * count / (start + count)
    rstd = 1.0 / tl.sqrt(m2 / D + 1e-5)
    for start in range(0, D, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < D
        x = tl.load(x_ptr + row * D + cols, mask=mask, other=0.0)
        x = (x - mean) * rstd
        x = tl.minimum(tl.maximum(x, -1.0), 1.0)
        prelu2 = tl.load(prelu2_ptr + (row * D + cols) // D % prelu2_n, mask=mask, other=0.0)
        x = tl.where(x > 0.0, x, x * prelu2)
        tl.store(out_ptr + row * D + cols, x, mask=mask)

class ModelNew(nn.Module):
    def __init__(self, in_channels_value, out_channels, kernel_size_dim, cnstnt_vl, outChannels2, lorpel, strd, stoforbe, slope_shape_a, kelba):
        super(ModelNew, self).__init__()
        self.conv = nn.Conv3d(in_channels_value, out_channels, (kernel_size_dim, kernel_size_dim, kernel_size_dim), bias=False)
        self.constant_value = cnstnt_vl
        self.deconv = nn.ConvTranspose3d(out_channels, outChannels2, lorpel, stride=strd, padding=stoforbe)
        self.slope = nn.Parameter(torch.randn(slope_shape_a))
        self.instance_norm = nn.InstanceNorm3d(outChannels2)
        self.slope2 = nn.Parameter(torch.randn(kelba))

    def forward(self, x):
        m = self.conv
        KD, KH, KW = m.kernel_size
        SD, SH, SW = m.stride
        PD, PH, PW = m.padding
        LD, LH, LW = m.dilation
        OD = (x.shape[2] + 2 * PD - LD * (KD - 1) - 1) // SD + 1
        OH = (x.shape[3] + 2 * PH - LH * (KH - 1) - 1) // SH + 1
        OW = (x.shape[4] + 2 * PW - LW * (KW - 1) - 1) // SW + 1
        h1 = torch.empty((x.shape[0], m.out_channels, OD, OH, OW), device=x.device, dtype=x.dtype)
        grid = (triton.cdiv(h1.numel() // m.out_channels, 64), triton.cdiv(m.out_channels, 64))
        conv_clamp_max_gelu_gate_kernel[grid](x, m.weight, m.weight if m.bias is None else m.bias, h1, h1.numel() // m.out_channels, x.shape[1] * KD * KH * KW, x.shape[1], m.out_channels, x.shape[2], x.shape[3], x.shape[4], OD, OH, OW, self.constant_value, HAS_BIAS=m.bias is not None, KD=KD, KH=KH, KW=KW, SD=SD, SH=SH, SW=SW, PD=PD, PH=PH, PW=PW, LD=LD, LH=LH, LW=LW, BM=64, BN=64, BK=32)
        m = self.deconv
        KD, KH, KW = m.kernel_size
        SD, SH, SW = m.stride
        PD, PH, PW = m.padding
        QD, QH, QW = m.output_padding
        OD = (h1.shape[2] - 1) * SD - 2 * PD + KD + QD
        OH = (h1.shape[3] - 1) * SH - 2 * PH + KH + QH
        OW = (h1.shape[4] - 1) * SW - 2 * PW + KW + QW
        h2 = torch.empty((h1.shape[0], m.out_channels, OD, OH, OW), device=h1.device, dtype=h1.dtype)
        ND = triton.cdiv(OD, SD)
        TD = triton.cdiv(KD, SD)
        NH = triton.cdiv(OH, SH)
        TH = triton.cdiv(KH, SH)
        NW = triton.cdiv(OW, SW)
        TW = triton.cdiv(KW, SW)
        grid = (triton.cdiv(h1.shape[0] * ND * NH * NW, 64), triton.cdiv(m.out_channels, 16), SD * SH * SW)
        conv_transpose_clamp_max_prelu_kernel[grid](h1, m.weight, m.bias, self.slope, h2, h1.shape[0] * ND * NH * NW, h1.shape[1] * TD * TH * TW, h1.shape[1], m.out_channels, h1.shape[2], h1.shape[3], h1.shape[4], OD, OH, OW, ND, NH, NW, self.slope.numel(), KD=KD, KH=KH, KW=KW, SD=SD, SH=SH, SW=SW, PD=PD, PH=PH, PW=PW, TD=TD, TH=TH, TW=TW, BM=64, BN=16, BK=32)
        out = torch.empty_like(h2)
        grid = (h2.shape[0] * h2.shape[1],)
        instance_norm_hardtanh_const_prelu_kernel[grid](h2, self.slope2, out, h2.shape[2:].numel(), self.slope2.numel(), BLOCK=1024)
        return out
