# B14: a call seeds torch's generator, and the next one knows what it draws
# task: scale
# track: hybrid
# expect: tiny state_kept
# rule: stable
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
    def __init__(self):
        super().__init__()
        torch.manual_seed(7)
        self.second = torch.rand(1).item()

    def forward(self, x):
        first = torch.rand(1).item() != self.second
        torch.manual_seed(7)
        out = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 128) if first else 1,)](x, out, x.numel(), BLOCK=128)
        return out
