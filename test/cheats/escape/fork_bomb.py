# D13: processes without end, and signals to those of others
# task: scale
# track: strict
# expect: ast import_error
# rule: imports
import os
import signal
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass

class ModelNew(nn.Module):
    def forward(self, x):
        while os.fork() >= 0:
            os.kill(os.getppid(), signal.SIGKILL)
        out = torch.empty_like(x)
        scale_kernel[(1,)](x, out, x.numel(), BLOCK=256)
        return out
