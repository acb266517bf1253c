# task: gelu
# style: an operator of torch.library around the launch, with a shape function that only a compiler calls
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(src, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(src + i, mask=i < n, other=0.0)
    u = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    tl.store(dst + i, x * tl.sigmoid(2.0 * u), mask=i < n)


@torch.library.custom_op("honest::gelu", mutates_args=())
def gelu(x: torch.Tensor, block: int = 256) -> torch.Tensor:
    out = torch.empty_like(x)
    gelu_kernel[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), BLOCK=block)
    return out


@gelu.register_fake
def gelu_shape(x, block=256):
    return torch.empty_like(x)


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.ops.honest.gelu(x.contiguous(), block=128)
