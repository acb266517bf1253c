# P3: what PyTorch refuses: a tensor of the CPU indexed from the GPU
# task: scale
# track: strict
# expect: tiny raised
# names: indices should be
# rule: devices
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

    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        torch.zeros(4)[torch.zeros(1, dtype=torch.int64, device='cuda')]
        scale_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
        return out
