# task: rope
# style: one lane an element, the other half by an index, sign by tl.where
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rotate(x_ptr, cos_ptr, sin_ptr, y_ptr, T, HALF, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    d = i % (2 * HALF)
    t = (i // (2 * HALF)) % T
    first = d < HALF
    other = tl.where(first, i + HALF, i - HALF)
    angle = t * HALF + tl.where(first, d, d - HALF)
    x = tl.load(x_ptr + i, mask=mask)
    z = tl.load(x_ptr + other, mask=mask)
    c = tl.load(cos_ptr + angle, mask=mask)
    s = tl.load(sin_ptr + angle, mask=mask)
    tl.store(y_ptr + i, x * c + tl.where(first, -z, z) * s, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x, cos, sin):
        y = torch.empty_like(x)
        n = x.numel()
        rotate[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, cos, sin, y, x.shape[1], x.shape[2] // 2, n, BLOCK=128)
        return y
