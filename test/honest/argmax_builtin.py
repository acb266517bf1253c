# task: argmax
# style: tl.argmax over a padded row
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def argmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + c, mask=c < n, other=float("-inf"))
    tl.store(out_ptr + row, tl.argmax(x, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty((x.shape[0],), dtype=torch.int64, device=x.device)
        argmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
