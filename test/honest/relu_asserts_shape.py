# task: relu_64
# style: asserts the whole shape and the dtype
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(y_ptr + offs, tl.maximum(x, 0.0) * 2.0, mask=offs < n)


class ModelNew(nn.Module):
    def forward(self, x):
        assert x.dim() == 2 and tuple(x.shape) == (64, 4096) and x.dtype == torch.float32
        y = torch.empty_like(x)
        relu_kernel[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
        return y
