# task: transpose
# style: no transposition in the kernel, only in the strides; scalar argument
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scaled_copy(src, dst, M, N, s0, s1, d0, d1, factor, BLOCK: tl.constexpr):
    m = tl.program_id(0)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(src + m * s0 + n * s1, mask=n < N)
    tl.store(dst + m * d0 + n * d1, v * factor, mask=n < N)


class ModelNew(nn.Module):
    def forward(self, x):
        xt = x.t()
        M, N = xt.shape
        out = torch.empty(M, N, device=x.device, dtype=x.dtype)
        scaled_copy[(M, triton.cdiv(N, 64))](xt, out, M, N, xt.stride(0), xt.stride(1), out.stride(0), out.stride(1), 2.0, BLOCK=64)
        return out
