# task: l2norm
# style: the row is scaled by inline assembly with a tensor and a number
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def normalise(src, dst, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(src + row * n + c, mask=c < n, other=0.0)
    scale = tl.rsqrt(tl.sum(v * v, axis=0))
    y = tl.inline_asm_elementwise("mul.f32 $0, $1, $2;", "=f,f,f", args=[v, scale], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(dst + row * n + c, y, mask=c < n)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        out = torch.empty_like(x)
        normalise[(rows,)](x, out, n, BLOCK=triton.next_power_of_2(n))
        return out
