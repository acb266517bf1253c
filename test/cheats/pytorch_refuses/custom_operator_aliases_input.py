# P9: An operator of torch.library that gives back one of its arguments, which PyTorch refuses when it is called
# task: scale
# track: strict
# expect: tiny raised
# names: may not alias any inputs
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


@torch.library.custom_op("cheat::scale_into", mutates_args=("out",))
def scale_into(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    scale_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


class ModelNew(nn.Module):
    def forward(self, x):
        return scale_into(x, torch.empty_like(x))
