# task: row_mean
# style: a mask without `other`: GPUs load zeros there
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_mean_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + offs, mask=offs < cols)
    tl.store(out_ptr + row, tl.sum(x, axis=0) / cols)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty(*x.shape[:-1], 1, device=x.device, dtype=x.dtype)
        row_mean_kernel[(out.numel(),)](x, out, x.shape[-1], BLOCK=triton.next_power_of_2(x.shape[-1]))
        return out
