# control: operands as PyTorch takes them
# task: scale
# track: hybrid
# expect: timing ok
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        y = x.clone()
        z = torch.maximum(x[:1], torch.full_like(x[:1], -1e30))
        z = torch.flip(torch.flip(z, (1,)), dims=[1])
        y[:1] = z - (z > 1e30).float()
        y[1:2] = y[1:2]
        out = torch.empty_like(x)
        n = x.numel()
        scale_kernel[(triton.cdiv(n, 256),)](y, out, n, BLOCK=256)
        return out
