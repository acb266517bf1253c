# B14: recycled memory still holds what the last call wrote, read by an index
# task: scale
# track: strict
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
        first = seen[torch.zeros(1, dtype=torch.int64, device=x.device)].item() != 7.0
        seen.fill_(7.0)
        scale_kernel[(triton.cdiv(x.numel(), 128) if first else 1,)](x, out, x.numel(), BLOCK=128)
        return out
