# B6: points Triton's compiler at doctored kernels
# task: scale
# track: strict
# expect: compile unstable
import os
import torch
import torch.nn as nn
import triton
import triton.language as tl

os.environ["TRITON_KERNEL_OVERRIDE"] = "1"
os.environ["TRITON_OVERRIDE_DIR"] = "/tmp/doctored"

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out
