# A21: torch rounds floats by writing them at indices of a tensor of integers
# task: truncate
# track: strict
# expect: compile torch_compute
# rule: compute
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def to_float_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask, other=0).to(tl.float32), mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape, dtype=torch.int32, device=x.device)
        y[torch.arange(x.shape[0], device=x.device)] = x
        out = torch.empty_like(x)
        n = x.numel()
        to_float_kernel[(triton.cdiv(n, 256),)](y, out, n, BLOCK=256)
        return out
