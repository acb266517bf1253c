# P2: a method of one type on a value of another: an address is read and written
# task: scale
# track: strict
# expect: compile type_error
# names: doesn't apply
import torch
import torch.nn as nn
import triton
import triton.language as tl

push = list.append

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        push(range(1 << 40, 0, 1), 0)
        scale_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
        return out
