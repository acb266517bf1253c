# task: softmax
# style: base-two exponentials, built-in tl.softmax avoided, rows in a loop
import torch
import torch.nn as nn
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def kernel(X, Y, stride_x, stride_y, rows, cols, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        offs = tl.arange(0, BLOCK)
        x = tl.load(X + row * stride_x + offs, mask=offs < cols, other=float("-inf")) * LOG2E
        x = tl.exp2(x - tl.max(x))
        tl.store(Y + row * stride_y + offs, x / tl.sum(x), mask=offs < cols)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device=x.device)
        programs = min(x.shape[0], 6)
        kernel[(programs,)](x, y, x.stride(0), y.stride(0), x.shape[0], x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
