# E05: one thread stores a scalar that every thread of the block needs
# task: rowsum
# track: strict
# expect: tiny race
# without: sanitize
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def sum_kernel(x_ptr, s_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    col = tl.program_id(0)
    r = tl.arange(0, BLOCK)
    tl.store(s_ptr + col, 1.0)
    one = tl.load(s_ptr + col)
    x = tl.load(x_ptr + r * cols + col, mask=r < rows, other=0.0)
    tl.store(out_ptr + col, tl.sum(x * one, axis=0))

class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        rows, cols = x.shape
        out = torch.empty(cols, device=x.device, dtype=x.dtype)
        s = torch.empty(cols, device=x.device, dtype=x.dtype)
        sum_kernel[(cols,)](x, s, out, rows, cols, BLOCK=triton.next_power_of_2(rows))
        return out
