# task: cross_entropy
# style: the label's logit picked by a sum over a comparison, rows in a tile
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def ce_tile(x_ptr, y_ptr, o_ptr, B, C, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, COLS)
    x = tl.load(x_ptr + r[:, None] * C + c[None, :], mask=(r[:, None] < B) & (c[None, :] < C), other=-1e30)
    y = tl.load(y_ptr + r, mask=r < B, other=0)
    m = tl.max(x, axis=1)
    s = tl.sum(tl.exp(x - m[:, None]), axis=1)
    picked = tl.sum(tl.where(c[None, :] == y[:, None], x, 0.0), axis=1)
    tl.store(o_ptr + r, m + tl.log(s) - picked, mask=r < B)


class ModelNew(nn.Module):
    def forward(self, logits, labels):
        B, C = logits.shape
        out = logits.new_empty((B,))
        ce_tile[(triton.cdiv(B, 8),)](logits, labels, out, B, C, ROWS=8, COLS=triton.next_power_of_2(C))
        return out
