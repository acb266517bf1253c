# B8: calls are counted in the flags of parameters: one more is frozen each time
# task: scale
# track: strict
# expect: tiny state_kept
# rule: state
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
        self.steps = nn.ParameterList([nn.Parameter(torch.ones(1)) for _ in range(64)])

    def forward(self, x):
        out = torch.empty_like(x)
        done = sum(0 if p.requires_grad else 1 for p in self.steps)
        self.steps[min(done, 63)].requires_grad_(False)
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out
