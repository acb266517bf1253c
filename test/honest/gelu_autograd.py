# task: gelu
# style: torch.autograd.Function around the launch
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _gelu_fwd(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    u = 1.5957691216057308 * (x + 0.044715 * x * x * x)
    o = x / (1.0 + tl.exp(-u))
    tl.store(o_ptr + i, o, mask=i < n)


class Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        o = torch.empty_like(x)
        n = x.numel()
        _gelu_fwd[(triton.cdiv(n, 1024),)](x, o, n, BLOCK=1024)
        ctx.save_for_backward(x)
        return o


class ModelNew(nn.Module):
    def forward(self, x):
        return Gelu.apply(x)
