# B2: the first call works for later calls, through another name for the list
# task: scale
# track: strict
# expect: tiny state_kept
# rule: state
import torch
import torch.nn as nn
import triton
import triton.language as tl

PENDING = []

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        waiting = PENDING
        if waiting:
            return waiting.pop()
        n = x.numel()
        for i in range(4):
            out = torch.empty_like(x)
            scale_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
            waiting.append(out)
        return waiting.pop()
