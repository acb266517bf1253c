# task: sdpa
# track: hybrid
# style: the library forms both products, the softmax between them is a kernel's: little of the work, all that is no product
import math

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_rows(s_ptr, n_cols, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < n_cols
    s = tl.load(s_ptr + row * n_cols + offs, mask=mask, other=-float("inf")) * scale
    e = tl.exp(s - tl.max(s, axis=0))
    tl.store(s_ptr + row * n_cols + offs, e / tl.sum(e, axis=0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, q, k, v):
        b, h, s, d = q.shape
        scores = torch.matmul(q, k.transpose(-2, -1))
        n = scores.shape[-1]
        softmax_rows[(b * h * s,)](scores, n, 1.0 / math.sqrt(d), BLOCK=triton.next_power_of_2(n))
        return torch.matmul(scores, v)
