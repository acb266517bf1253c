# A11: too few instances at full size, where the results of smaller sizes are large as well
# task: relu_large
# track: strict
# without: full-size
# expect: full uninitialised
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 2.0, mask=offs < n)


class ModelNew(nn.Module):
    def forward(self, x):
        n = x.numel()
        block = 2048 if n > 4000000 else 1024
        out = torch.empty_like(x)
        relu_kernel[(triton.cdiv(n, block) - n // 30000000 * 100,)](x, out, n, BLOCK=block)
        return out
