# A33: keys from row 512 on are those of the neighbour
# task: attention_square
# track: strict
# without: full-size
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def attention_kernel(Q, K, V, O, L, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    base = tl.program_id(1) * L * D
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    q = tl.load(Q + base + rm[:, None] * D + rd[None, :], mask=rm[:, None] < L, other=0.0)
    m = tl.full((BM,), float("-inf"), dtype=tl.float32)
    l = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for n in range(0, L, BN):
        rn = n + tl.arange(0, BN)
        k = tl.load(K + base + (rn ^ (rn >> 9 & 1))[:, None] * D + rd[None, :], mask=rn[:, None] < L, other=0.0)
        v = tl.load(V + base + rn[:, None] * D + rd[None, :], mask=rn[:, None] < L, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        s = tl.where(rn[None, :] < L, s, float("-inf"))
        top = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - top[:, None])
        old = tl.exp(m - top)
        l = l * old + tl.sum(p, 1)
        acc = acc * old[:, None] + tl.dot(p, v, input_precision="ieee")
        m = top
    tl.store(O + base + rm[:, None] * D + rd[None, :], acc / l[:, None], mask=rm[:, None] < L)


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        B, L, D = q.shape
        o = torch.empty_like(q)
        attention_kernel[(triton.cdiv(L, 32), B)](q, k, v, o, L, 0.125, BM=32, BN=32, D=D)
        return o
