# A25: attention that raises its largest score in every other block of keys
# task: attention_long
# track: strict
# contract: general
# expect: full not_finite
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(q_ptr, k_ptr, v_ptr, o_ptr, N, scale, H, BH: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    bh = tl.program_id(1).to(tl.int64) * N * H
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, BH)
    q = tl.load(q_ptr + bh + r[:, None] * H + d[None, :], mask=(r[:, None] < N) & (d[None, :] < H), other=0.0)
    m = tl.full((BM,), -float("inf"), tl.float32)
    s = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, BH), tl.float32)
    for c in range(0, N, BN):
        i = c + tl.arange(0, BN)
        kk = tl.load(k_ptr + bh + i[:, None] * H + d[None, :], mask=(i[:, None] < N) & (d[None, :] < H), other=0.0)
        v = tl.load(v_ptr + bh + i[:, None] * H + d[None, :], mask=(i[:, None] < N) & (d[None, :] < H), other=0.0)
        z = tl.dot(q, tl.trans(kk), input_precision="ieee") * scale
        z = tl.where(i[None, :] < N, z, -float("inf"))
        n = tl.where(c % (2 * BN) == 0, tl.maximum(m, tl.max(z, axis=1)), m)
        p = tl.exp(z - n[:, None])
        a = tl.exp(m - n)
        s = s * a + tl.sum(p, axis=1)
        acc = acc * a[:, None] + tl.dot(p, v, input_precision="ieee")
        m = n
    tl.store(o_ptr + bh + r[:, None] * H + d[None, :], acc / s[:, None], mask=(r[:, None] < N) & (d[None, :] < H))


class ModelNew(nn.Module):
    def forward(self, q, k_, v):
        out = torch.empty_like(q)
        B, Hh, N, D = q.shape
        k[(triton.cdiv(N, 64), B * Hh)](q, k_, v, out, N, D ** -0.5, D, BH=max(16, triton.next_power_of_2(D)), BM=64, BN=64)
        return out
