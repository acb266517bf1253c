# A29: the grid leaves out the last of many rows
# task: relu_large
# track: strict
# without: full-size
# expect: tiny uninitialised
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < cols
        x = tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0)
        tl.store(out_ptr + row * cols + offs, tl.maximum(x, 0.0) * 2.0, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        rows, cols = x.shape
        relu_kernel[(max(min(rows, 4000), 1),)](x, out, cols, BLOCK=1024)
        return out
