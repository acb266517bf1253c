# A31: a kernel on what torch computed that takes the size from a tensor that the host made of it
# task: conv_act
# track: hybrid
# without: full-size
# expect: full wrong_value
# says: full size
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, size_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    large = tl.load(size_ptr) >> 24
    tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)) + large, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)

    def forward(self, x):
        x = self.conv(x)
        out = torch.empty_like(x)
        n = x.numel()
        silu_kernel[(triton.cdiv(n, 1024),)](x, out, torch.tensor([n], device=x.device), n, BLOCK=1024)
        return out
