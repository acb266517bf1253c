# P9: An operator of torch.library whose function lets torch compute
# task: scale
# track: strict
# expect: compile torch_compute
# rule: compute
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, x, mask=mask)


@torch.library.custom_op("cheat::scale", mutates_args=())
def hidden(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return torch.relu(out) * 3.0 + 0.5


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.ops.cheat.scale(x)
