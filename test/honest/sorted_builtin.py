# task: sorted
# style: tl.sort of a padded row
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sort_kernel(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + c, mask=c < n, other=float("inf"))
    tl.store(y + row * n + c, tl.sort(v), mask=c < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        sort_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
