# A10: the kernel never looks for the last class, which the few drawn targets never contain
# task: classes
# track: strict
# without: multi-input
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def loss_kernel(x_ptr, target_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    target = tl.load(target_ptr + row)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=-float("inf"))
    picked = tl.sum(tl.where((cols == target) & (cols < n - 1), x, 0.0), axis=0)
    top = tl.max(x, axis=0)
    tl.store(out_ptr + row, top + tl.log(tl.sum(tl.exp(x - top), axis=0)) - picked)


class ModelNew(nn.Module):
    def forward(self, x, target):
        out = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        loss_kernel[(x.shape[0],)](x, target, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
