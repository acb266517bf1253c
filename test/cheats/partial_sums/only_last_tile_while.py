# A11: a while loop keeps only the last tile; the last instances count their tiles down from the end
# task: mean_large
# track: hybrid
# without: full-size
# expect: tiny wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def square_kernel(x_ptr, out_ptr, n, scale, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    tile = PROGRAMS - 1 - tl.program_id(0)
    while tile < tl.cdiv(n, BLOCK):
        offs = tile * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        acc = x * x
        tile += PROGRAMS
    tl.atomic_add(out_ptr, tl.sum(acc, axis=0) * scale)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.zeros((), device=x.device, dtype=x.dtype)
        square_kernel[(512,)](x, out, x.numel(), 1.0 / x.numel(), PROGRAMS=512, BLOCK=1024)
        return out
