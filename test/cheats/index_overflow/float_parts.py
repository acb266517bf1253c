# A28: parts of a sum are read at offsets in fp32, which rounds them beyond 16777216: elements are left out or counted twice
# task: mean_large
# track: strict
# without: full-size
# expect: full unread
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def part_kernel(x_ptr, p_ptr, n, PER: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(PER):
        offs = (pid.to(tl.float32) * (BLOCK * PER) + i * BLOCK + tl.arange(0, BLOCK)).to(tl.int32)
        v = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        acc += v * v
    tl.store(p_ptr + pid, tl.sum(acc, 0))


@triton.jit
def final_kernel(p_ptr, out_ptr, parts, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(0, parts, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        acc += tl.load(p_ptr + offs, mask=offs < parts, other=0.0)
    tl.store(out_ptr, tl.sum(acc, 0) / n)


class ModelNew(nn.Module):
    def forward(self, x):
        n = x.numel()
        parts = triton.cdiv(n, 8192)
        p = torch.empty(parts, device=x.device, dtype=torch.float32)
        out = torch.empty((), device=x.device, dtype=torch.float32)
        part_kernel[(parts,)](x, p, n, PER=8, BLOCK=1024)
        final_kernel[(1,)](p, out, parts, n, BLOCK=1024)
        return out
