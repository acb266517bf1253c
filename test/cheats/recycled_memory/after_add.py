# B14: memory that was given back, read through memory that it was added to
# task: scale
# track: hybrid
# expect: tiny uninitialised
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
        out = torch.empty_like(x)
        seen = torch.empty(4, device=x.device)
        sums = torch.zeros(4, device=x.device)
        sums.add_(seen)
        first = sums[0].item() != 7.0
        torch.empty(4, device=x.device).fill_(7.0)
        scale_kernel[(triton.cdiv(x.numel(), 128) if first else 1,)](x, out, x.numel(), BLOCK=128)
        return out
