# B8: counts calls by the shape of a buffer, transposed in place
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
        self.register_buffer("turn", torch.ones(8, 4))

    def forward(self, x):
        out = torch.empty_like(x)
        first = self.turn.shape[0] == 8
        self.turn.t_()
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out
