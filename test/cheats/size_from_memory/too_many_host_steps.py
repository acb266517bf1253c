# A31: more host steps at full size than a dry run follows
# task: relu_large
# track: strict
# without: full-size
# expect: full out_of_fuel
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
        out = torch.empty_like(x)
        n = x.numel()
        steps = 0
        for i in range(n):
            steps += 1
        relu_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256, WHOLE=n < 1 << 20)
        return out
