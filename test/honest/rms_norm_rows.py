# task: rms_norm
# style: reshape to rows and back, eps passed as a float
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rms_kernel(x_ptr, w_ptr, out_ptr, hidden, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < hidden
    x = tl.load(x_ptr + row * hidden + offs, mask=mask, other=0.0)
    w = tl.load(w_ptr + offs, mask=mask, other=0.0)
    xf = x.to(tl.float32)
    ms = tl.sum(xf * xf, axis=0) / hidden
    tl.store(out_ptr + row * hidden + offs, w * (xf * tl.rsqrt(ms + eps)).to(x.dtype), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, hidden: int, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))
        self.eps = eps

    def forward(self, x):
        shape = x.shape
        x = x.reshape(-1, shape[-1])
        out = torch.empty_like(x)
        rms_kernel[(x.shape[0],)](x, self.weight, out, shape[-1], self.eps, BLOCK=triton.next_power_of_2(shape[-1]))
        return out.reshape(shape)
