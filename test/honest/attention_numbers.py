# task: attention_numbers
# style: sizes that the task writes as numbers, online softmax over blocks of keys
import math

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def flash(q_ptr, k_ptr, v_ptr, o_ptr, T, D, scale, BD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1)
    base = head * T * D
    m_idx = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, BD)
    q = tl.load(q_ptr + base + m_idx[:, None] * D + d[None, :], mask=(m_idx[:, None] < T) & (d[None, :] < D), other=0.0)
    m_i = tl.full([BM], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BM], dtype=tl.float32)
    acc = tl.zeros([BM, BD], dtype=tl.float32)
    for start in range(0, T, BN):
        n_idx = start + tl.arange(0, BN)
        k = tl.load(k_ptr + base + n_idx[None, :] * D + d[:, None], mask=(n_idx[None, :] < T) & (d[:, None] < D), other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * scale
        s = tl.where(n_idx[None, :] < T, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.exp(s - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + base + n_idx[:, None] * D + d[None, :], mask=(n_idx[:, None] < T) & (d[None, :] < D), other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m_i = m_new
    tl.store(o_ptr + base + m_idx[:, None] * D + d[None, :], acc / l_i[:, None], mask=(m_idx[:, None] < T) & (d[None, :] < D))


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        B, H, T, D = q.shape
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        o = torch.empty_like(q)
        flash[(triton.cdiv(T, 16), B * H)](q, k, v, o, T, D, 1.0 / math.sqrt(D), BD=max(16, triton.next_power_of_2(D)), BM=16, BN=16)
        return o
