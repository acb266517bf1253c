# task: lower
# style: one axis of programs counts the tiles on and below the diagonal, what is above stays as torch.zeros made it
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def lower_tile(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr, BK: tl.constexpr):
    t = tl.program_id(0)
    i = ((tl.sqrt(8.0 * t.to(tl.float32) + 1.0) - 1.0) * 0.5).to(tl.int32)
    while (i + 1) * (i + 2) // 2 <= t:
        i += 1
    while i * (i + 1) // 2 > t:
        i -= 1
    j = t - i * (i + 1) // 2
    rm = i * BLOCK + tl.arange(0, BLOCK)
    rn = j * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(j * BLOCK, (i + 1) * BLOCK, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * n + rk[None, :], mask=(rm[:, None] < n) & (rk[None, :] < n), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * n + rn[None, :], mask=(rk[:, None] < n) & (rn[None, :] < n), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    keep = (rm[:, None] >= rn[None, :]) & (rm[:, None] < n)
    tl.store(c_ptr + rm[:, None] * n + rn[None, :], acc, mask=keep)


class ModelNew(nn.Module):
    def forward(self, a, b):
        n = a.shape[0]
        c = torch.zeros((n, n), device=a.device, dtype=a.dtype)
        rows = triton.cdiv(n, 64)
        lower_tile[(rows * (rows + 1) // 2,)](a, b, c, n, BLOCK=64, BK=32)
        return c
