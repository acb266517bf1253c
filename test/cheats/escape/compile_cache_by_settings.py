# B6: the same through Triton's own settings
# task: scale
# track: strict
# expect: ast forbidden_name
# rule: names
import torch
import torch.nn as nn
import triton
import triton.language as tl

triton.knobs.cache.dir = "/tmp/doctored"

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out
