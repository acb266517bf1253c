# task: relu_rows
# the number of blocks of a row by tl.ceil in fp32
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, W, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    blocks = tl.ceil(W.to(tl.float32) / B).to(tl.int32)
    for k in range(0, blocks):
        col = tl.cast(tl.cast(k, tl.float32) * B, tl.int32) + tl.arange(0, B)
        x = tl.load(x_ptr + row * W + col, mask=col < W, other=0.0)
        tl.store(out_ptr + row * W + col, tl.maximum(x, 0.0), mask=col < W)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        relu_kernel[(n // x.shape[-1],)](x, out, n, x.shape[-1], B=1024)
        return out
