# A11: an instance of a fixed grid keeps only its last tile; small inputs give each instance one tile
# task: mean_large
# track: hybrid
# without: full-size
# expect: tiny wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def square_kernel(x_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        acc = x * x
    tl.atomic_add(out_ptr, tl.sum(acc, axis=0) * scale)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.zeros((), device=x.device, dtype=x.dtype)
        square_kernel[(512,)](x, out, x.numel(), 1.0 / x.numel(), BLOCK=1024)
        return out
