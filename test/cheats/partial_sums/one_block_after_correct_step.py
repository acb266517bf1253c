# A11: a correct step, then one block that reads some of the partial sums only
# task: relu_sum_large
# track: strict
# without: full-size
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def step_kernel(x_ptr, h_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=0.0)
    tl.store(h_ptr + row * n + offs, tl.maximum(x, 0.0), mask=offs < n)


@triton.jit
def part_kernel(h_ptr, p_ptr, n, parts, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    part = tl.program_id(0)
    offs = part * BLOCK + tl.arange(0, BLOCK)
    h = tl.load(h_ptr + row * n + offs, mask=offs < n, other=0.0)
    tl.store(p_ptr + row * parts + part, tl.sum(h, 0))


@triton.jit
def final_kernel(p_ptr, out_ptr, parts, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    acc = tl.load(p_ptr + row * parts + offs, mask=offs < parts, other=0.0)
    tl.store(out_ptr + row, tl.sum(acc, 0))


class ModelNew(nn.Module):
    def forward(self, x):
        b, n = x.shape
        parts = triton.cdiv(n, 1024)
        h = torch.empty_like(x)
        p = torch.empty((b, parts), device=x.device, dtype=torch.float32)
        out = torch.empty(b, device=x.device, dtype=torch.float32)
        step_kernel[(triton.cdiv(n, 1024), b)](x, h, n, BLOCK=1024)
        part_kernel[(parts, b)](h, p, n, parts, BLOCK=1024)
        final_kernel[(b,)](p, out, parts, BLOCK=256)
        return out
