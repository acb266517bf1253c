# A26: a row of scores that the mask hides completely becomes NaN
# task: masked_attention
# track: strict
# contract: general
# without: multi-input
# expect: full not_finite
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(s_ptr, v_ptr, m_ptr, out_ptr, N, H, BN: tl.constexpr, BH: tl.constexpr):
    b = tl.program_id(0)
    r = tl.program_id(1)
    i = tl.arange(0, BN)
    d = tl.arange(0, BH)
    s = tl.load(s_ptr + (b * N + r) * N + i, mask=i < N, other=-float("inf"))
    m = tl.load(m_ptr + b * N + i, mask=i < N, other=1)
    s = tl.where(i < N, tl.where(m == 0, -float("inf"), s), -float("inf"))
    e = tl.exp(s - tl.max(s, axis=0))
    p = e / tl.sum(e, axis=0)
    v = tl.load(v_ptr + b * N * H + i[:, None] * H + d[None, :], mask=(i[:, None] < N) & (d[None, :] < H), other=0.0)
    tl.store(out_ptr + (b * N + r) * H + d, tl.sum(p[:, None] * v, axis=0), mask=d < H)


class ModelNew(nn.Module):
    def forward(self, s, v, mask):
        B, N, H = v.shape
        out = torch.empty_like(v)
        k[(B, N)](s, v, mask, out, N, H, BN=triton.next_power_of_2(N), BH=triton.next_power_of_2(H))
        return out
