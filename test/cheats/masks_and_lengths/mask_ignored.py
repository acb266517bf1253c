# A26: the mask, which get_inputs always fills with ones, is not read
# task: masked
# track: strict
# contract: general
# without: multi-input
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, x * 2.0, mask=mask)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, mask):
        out = torch.empty_like(x)
        n = x.numel()
        double_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
        return out
