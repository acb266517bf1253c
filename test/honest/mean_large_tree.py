# task: mean_large
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def part_kernel(x_ptr, p_ptr, n, PER: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(PER):
        offs = pid * (BLOCK * PER) + i * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        acc += v * v
    tl.store(p_ptr + pid, tl.sum(acc, 0))


@triton.jit
def fold_kernel(p_ptr, q_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(q_ptr + pid, tl.sum(tl.load(p_ptr + offs, mask=offs < n, other=0.0), 0))


@triton.jit
def divide_kernel(p_ptr, out_ptr, n):
    tl.store(out_ptr, tl.load(p_ptr) / n)


class ModelNew(nn.Module):
    def forward(self, x):
        n = x.numel()
        parts = triton.cdiv(n, 8192)
        p = torch.empty(parts, device=x.device, dtype=torch.float32)
        part_kernel[(parts,)](x, p, n, PER=8, BLOCK=1024)
        while parts > 1:
            fewer = triton.cdiv(parts, 256)
            q = torch.empty(fewer, device=x.device, dtype=torch.float32)
            fold_kernel[(fewer,)](p, q, parts, BLOCK=256)
            p, parts = q, fewer
        out = torch.empty((), device=x.device, dtype=torch.float32)
        divide_kernel[(1,)](p, out, n)
        return out
