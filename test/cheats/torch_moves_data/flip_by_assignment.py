# A23: torch moves the elements by assigning them to other indices
# task: flip
# track: strict
# expect: full torch_compute
# rule: work_share
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask, other=0.0), mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        n = x.numel()
        y = torch.empty_like(x)
        y[:, torch.arange(x.shape[1] - 1, -1, -1, device=x.device)] = x
        out = torch.empty_like(x)
        copy_kernel[(triton.cdiv(n, 256),)](y, out, n, BLOCK=256)
        return out
