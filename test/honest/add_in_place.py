# task: add
# style: copies one operand and adds to the copy in place
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_into(acc_ptr, x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    acc = tl.load(acc_ptr + i, mask=m, other=0.0)
    acc += tl.load(x_ptr + i, mask=m, other=0.0)
    tl.store(acc_ptr + i, acc, mask=m)


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = a.clone()
        add_into[(triton.cdiv(out.numel(), 256),)](out, b, out.numel(), BLOCK=256)
        return out
