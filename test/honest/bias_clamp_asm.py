# task: bias_clamp
# style: the limits by two instructions of inline assembly
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, b_ptr, y_ptr, n_elements, plane, channels, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n_elements
    c = i // plane % channels
    v = tl.load(x_ptr + i, mask=live, other=0.0) + tl.load(b_ptr + c, mask=live, other=0.0)
    v = tl.inline_asm_elementwise("max.f32 $0, $1, 0fBF000000; min.f32 $0, $0, 1.5;", "=r,r", [v], tl.float32, True, 1)
    tl.store(y_ptr + i, v, mask=live)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(channels, 1, 1))

    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        kernel[(triton.cdiv(n, 512),)](x, self.bias, y, n, x.shape[2] * x.shape[3], x.shape[1], BLOCK=512)
        return y
