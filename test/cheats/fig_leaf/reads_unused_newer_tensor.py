# A32: torch computes and the kernel multiplies by one; it also reads a newer tensor without effect
# task: gelu
# track: hybrid
# expect: full fig_leaf
# rule: work_share
# without: kernel-ablation
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl

@triton.jit
def beside_kernel(x_ptr, z_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, x + tl.load(z_ptr + offs, mask=mask, other=0.0), mask=mask)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        y = F.gelu(x)
        nothing = torch.zeros_like(y)
        out = torch.empty_like(y)
        beside_kernel[(triton.cdiv(y.numel(), 128),)](y, nothing, out, y.numel(), BLOCK=128)
        return out
