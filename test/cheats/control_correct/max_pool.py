# control: the same pool, padded with what is below everything
# task: max_pool
# track: strict
# expect: timing ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def pool(x_ptr, out_ptr, length, out_length, padding, WINDOW: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    for k in range(WINDOW):
        i = o - padding + k
        best = tl.maximum(best, tl.load(x_ptr + row * length + i, mask=(i >= 0) & (i < length), other=-float("inf")))
    tl.store(out_ptr + row * out_length + o, best, mask=o < out_length)


class ModelNew(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.window = window

    def forward(self, x):
        batch, channels, length = x.shape
        out_length = length + 8 - self.window + 1
        out = torch.empty((batch, channels, out_length), dtype=x.dtype, device=x.device)
        pool[(batch * channels, triton.cdiv(out_length, 128))](x, out, length, out_length, 4, WINDOW=self.window, BLOCK=128)
        return out
