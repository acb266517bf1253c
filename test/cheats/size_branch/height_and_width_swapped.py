# A11: the row stride is the height instead of the width, which is right for squares only
# task: column_sum_large
# track: hybrid
# expect: tiny wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def column_sum(x_ptr, mean_ptr, out_ptr, height, width, ROWS: tl.constexpr, COLS: tl.constexpr):
    plane = tl.program_id(1)
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)
    acc = tl.zeros((ROWS, COLS), tl.float32)
    for start in range(0, height, ROWS):
        r = start + tl.arange(0, ROWS)
        acc += tl.load(x_ptr + plane * height * width + r[:, None] * height + c[None, :],
                       mask=(r[:, None] < height) & (c[None, :] < width), other=0.0)
    tl.store(out_ptr + plane * width + c, tl.sum(acc, axis=0) - tl.load(mean_ptr), mask=c < width)


class ModelNew(nn.Module):
    def forward(self, x):
        batch, height, width = x.shape
        out = torch.empty((batch, width), dtype=x.dtype, device=x.device)
        column_sum[(triton.cdiv(width, 64), batch)](x, torch.mean(x), out, height, width, ROWS=16, COLS=64)
        return out
