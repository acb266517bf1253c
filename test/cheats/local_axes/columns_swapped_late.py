# A33: columns from 128 on are those of the neighbour
# task: conv_wide
# track: strict
# without: full-size
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def conv_kernel(x_ptr, w_ptr, b_ptr, y_ptr, C, O, H, W, R: tl.constexpr, PAD: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.program_id(1)
    n = tl.program_id(2)
    cols = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32) + tl.load(b_ptr + o)
    for c in range(C):
        for r in range(R):
            h = row + r - PAD
            for s in range(R):
                at = cols + s - PAD
                ok = (h >= 0) & (h < H) & (at >= 0) & (at < W) & (cols < W)
                x = tl.load(x_ptr + ((n * C + c) * H + h) * W + (at ^ (at >> 7 & 1)), mask=ok, other=0.0)
                acc += x * tl.load(w_ptr + ((o * C + c) * R + r) * R + s)
    tl.store(y_ptr + ((n * O + o) * H + row) * W + cols, acc, mask=cols < W)


class ModelNew(nn.Module):
    def __init__(self, inner, outer, window):
        super().__init__()
        self.conv = nn.Conv2d(inner, outer, window, padding=4)

    def forward(self, x):
        N, C, H, W = x.shape
        O = self.conv.weight.shape[0]
        y = torch.empty((N, O, H, W), device=x.device, dtype=x.dtype)
        conv_kernel[(H, O, N)](x, self.conv.weight, self.conv.bias, y, C, O, H, W, R=9, PAD=4, BLOCK=512)
        return y
