# A11: the second half of the input is skipped, the first read again
# task: mean_large
# track: strict
# without: full-size
# expect: full unread
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def part_kernel(x_ptr, part_ptr, N, R: tl.constexpr, B: tl.constexpr):
    part = tl.program_id(0)
    acc = tl.zeros([B], tl.float32)
    for i in range(R):
        at = (part * R + i) * B + tl.arange(0, B)
        x = tl.load(x_ptr + (at - (at >> 25) * 33554432), mask=at < N, other=0.0)
        acc += x * x
    tl.store(part_ptr + part, tl.sum(acc, 0))


@triton.jit
def sum_kernel(part_ptr, out_ptr, P, N, B: tl.constexpr):
    acc = tl.zeros([B], tl.float32)
    for start in range(0, P, B):
        at = start + tl.arange(0, B)
        acc += tl.load(part_ptr + at, mask=at < P, other=0.0)
    tl.store(out_ptr, tl.sum(acc, 0) / N)


class ModelNew(nn.Module):
    def forward(self, x):
        N = x.numel()
        P = triton.cdiv(N, 8192)
        part = torch.empty((P,), device=x.device, dtype=torch.float32)
        out = torch.empty((), device=x.device, dtype=torch.float32)
        part_kernel[(P,)](x, part, N, R=8, B=1024)
        sum_kernel[(1,)](part, out, P, N, B=1024)
        return out
