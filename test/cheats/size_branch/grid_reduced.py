# A30: a comparison of sizes makes the grid smaller
# task: scale
# track: strict
# without: full-size
# names: behind a size branch
# expect: full uninitialised
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        m = 1024 if n >= 250000 else n
        scale_kernel[(triton.cdiv(m, 256),)](x, out, n, BLOCK=256)
        return out
