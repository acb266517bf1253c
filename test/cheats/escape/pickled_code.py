# D6: an object that runs code where it is unpickled
# task: scale
# track: strict
# expect: ast forbidden_name
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass

class Bomb:
    def __reduce__(self):
        return print, ("correct",)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale_kernel[(1,)](x, out, x.numel(), BLOCK=256)
        return Bomb()
