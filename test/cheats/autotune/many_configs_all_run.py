# C10: many programs to choose from: each is run
# task: scale
# track: strict
# expect: timing ok
# says: "configs":{"programs":80,"run":80}
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 128, "NUMBER": i}) for i in range(80)], key=["n"])
@triton.jit
def scale_kernel(x_ptr, out_ptr, n, NUMBER: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel())
        return out
