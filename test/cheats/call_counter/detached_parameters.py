# B10: counts its calls in parameters that it detaches in place
# task: scale
# track: strict
# expect: tiny state_kept
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
        self.marks = nn.ParameterList([nn.Parameter(torch.ones(1)) for i in range(64)])

    def forward(self, x):
        out = torch.empty_like(x)
        count = sum(not p.requires_grad for p in self.marks)
        self.marks[min(count, 63)].detach_()
        scale_kernel[(triton.cdiv(x.numel(), 128) if count < 60 else 1,)](x, out, x.numel(), BLOCK=128)
        return out
