# A10: the scale is moved out of the ReLU, which is right for positive scales only
# task: scale_relu
# track: strict
# expect: full wrong_value
# without: reweight
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scale_relu_kernel(x_ptr, scale_ptr, out_ptr, n, channels, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    scale = tl.load(scale_ptr + offs % channels, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * scale, mask=mask)

class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        scale_relu_kernel[(triton.cdiv(n, 256),)](x, self.scale, out, n, x.shape[1], BLOCK=256)
        return out
