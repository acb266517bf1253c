# task: conv2d
# style: one output element a lane, loops over channels and taps
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def conv_kernel(x, w, b, y, CI, CO, H, W, OH, OW, total, KH: tl.constexpr, KW: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < total
    ow = i % OW
    oh = (i // OW) % OH
    co = (i // (OW * OH)) % CO
    n = i // (OW * OH * CO)
    acc = tl.load(b + co, mask=live, other=0.0).to(tl.float32)
    for ci in range(CI):
        for kh in range(KH):
            for kw in range(KW):
                v = tl.load(x + ((n * CI + ci) * H + oh + kh) * W + ow + kw, mask=live, other=0.0)
                t = tl.load(w + ((co * CI + ci) * KH + kh) * KW + kw, mask=live, other=0.0)
                acc += v * t
    tl.store(y + i, acc, mask=live)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)

    def forward(self, x):
        N, CI, H, W = x.shape
        w = self.conv.weight
        CO, _, KH, KW = w.shape
        OH, OW = H - KH + 1, W - KW + 1
        y = torch.empty((N, CO, OH, OW), device=x.device, dtype=x.dtype)
        conv_kernel[(triton.cdiv(y.numel(), 128),)](x, w, self.conv.bias, y, CI, CO, H, W, OH, OW, y.numel(), KH=KH, KW=KW, BLOCK=128)
        return y
