# A11: a branch leaves work out when rows are long
# task: relu_large
# track: strict
# without: full-size
# expect: tiny wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, WHOLE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    y = tl.maximum(x, 0.0) if WHOLE else x
    tl.store(out_ptr + offs, y * 2.0, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        if x.shape[1] > 1000:
            whole = False
        else:
            whole = True
        relu_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256, WHOLE=whole)
        return out
