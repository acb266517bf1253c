# A11: correct only when one block holds a row: every instance computes the first block of columns
# task: relu_large
# track: strict
# without: full-size
# expect: tiny uninitialised
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    blocks = tl.cdiv(columns, C)
    r = tl.program_id(0) // blocks * R + tl.arange(0, R)
    c = tl.program_id(0) // blocks % blocks * C + tl.arange(0, C)
    mask = (r < rows)[:, None] & (c < columns)[None, :]
    offs = r[:, None] * columns + c[None, :]
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 2.0, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        rows, columns = x.shape
        relu_kernel[(triton.cdiv(rows, 4) * triton.cdiv(columns, 512),)](x, out, rows, columns, R=4, C=512)
        return out
