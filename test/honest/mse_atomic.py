# task: mse
# style: one atomic addition a program into a zero scalar
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mse_kernel(p_ptr, t_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(p_ptr + i, mask=i < n, other=0.0) - tl.load(t_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(d * d, axis=0) * scale)


class ModelNew(nn.Module):
    def forward(self, prediction, target):
        n = prediction.numel()
        out = torch.zeros((), device=prediction.device, dtype=prediction.dtype)
        mse_kernel[(triton.cdiv(n, 1024),)](prediction, target, out, n, 1.0 / n, BLOCK=1024)
        return out
