# A31: a kernel that takes the size from a tensor that the host made of it
# task: relu_large
# track: strict
# without: full-size
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, size_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    large = tl.load(size_ptr) >> 24
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 2.0 + large, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        relu_kernel[(triton.cdiv(n, 1024),)](x, out, torch.tensor([n], device=x.device), n, BLOCK=1024)
        return out
