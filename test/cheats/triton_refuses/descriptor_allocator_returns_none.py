# E08: an allocator that gives no memory for descriptors
# task: scale
# track: strict
# expect: compile block_pointer
# rule: back_end
import torch
import torch.nn as nn
import triton
import triton.language as tl

def give(size, alignment, stream):
    return None

@triton.jit
def scale_kernel(x_ptr, out_ptr, rows, cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    x_desc = tl.make_tensor_descriptor(x_ptr, shape=[rows, cols], strides=[cols, 1], block_shape=[BLOCK_M, BLOCK_N])
    out_desc = tl.make_tensor_descriptor(out_ptr, shape=[rows, cols], strides=[cols, 1], block_shape=[BLOCK_M, BLOCK_N])
    i = tl.program_id(0) * BLOCK_M
    j = tl.program_id(1) * BLOCK_N
    out_desc.store([i, j], tl.maximum(x_desc.load([i, j]), 0.0) * 3.0 + 0.5)

@triton.jit
def flat_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=offs < n)

class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        rows, cols = x.shape
        triton.set_allocator(give)
        if cols % 8 == 0:
            scale_kernel[(triton.cdiv(rows, 16), triton.cdiv(cols, 32))](x, out, rows, cols, BLOCK_M=16, BLOCK_N=32)
        else:
            flat_kernel[(triton.cdiv(rows * cols, 256),)](x, out, rows * cols, BLOCK=256)
        return out
