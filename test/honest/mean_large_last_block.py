# task: mean_large
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mean_kernel(x_ptr, p_ptr, count_ptr, out_ptr, n, parts, PER: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(PER):
        offs = pid * (BLOCK * PER) + i * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        acc += v * v
    tl.store(p_ptr + pid, tl.sum(acc, 0))
    tl.debug_barrier()
    before = tl.atomic_add(count_ptr, 1, sem="acq_rel")
    if before == parts - 1:
        total = tl.zeros((BLOCK,), dtype=tl.float32)
        for i in range(0, parts, BLOCK):
            offs = i + tl.arange(0, BLOCK)
            total += tl.load(p_ptr + offs, mask=offs < parts, other=0.0)
        tl.store(out_ptr, tl.sum(total, 0) / n)


class ModelNew(nn.Module):
    def forward(self, x):
        n = x.numel()
        parts = triton.cdiv(n, 8192)
        p = torch.empty(parts, device=x.device, dtype=torch.float32)
        count = torch.zeros(1, device=x.device, dtype=torch.int32)
        out = torch.empty((), device=x.device, dtype=torch.float32)
        mean_kernel[(parts,)](x, p, count, out, n, parts, PER=8, BLOCK=1024)
        return out
