# task: add
# style: a fixed number of programs that stride over the data
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def strided_add(a_ptr, b_ptr, o_ptr, total, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    step = tl.num_programs(0) * BLOCK
    for base in range(start, total, step):
        idx = base + tl.arange(0, BLOCK)
        ok = idx < total
        tl.store(o_ptr + idx, tl.load(a_ptr + idx, mask=ok) + tl.load(b_ptr + idx, mask=ok), mask=ok)


class ModelNew(nn.Module):
    """Eight programs share the work."""

    def forward(self, a, b):
        a = a.contiguous()
        b = b.contiguous()
        o = torch.empty_like(a)
        strided_add[(8,)](a, b, o, a.numel(), BLOCK=512)
        return o
