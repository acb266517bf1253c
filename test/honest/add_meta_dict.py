# task: add
# style: launch parameters in dictionaries, built and changed in forward
import torch
import torch.nn as nn
import triton
import triton.language as tl

DEFAULTS = {"BLOCK": 256, "num_warps": 4}


@triton.jit
def add_kernel(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, a, b):
        meta = dict(DEFAULTS)
        if a.numel() > 100000:
            meta["BLOCK"] = 1024
            meta.update(num_warps=8)
        tensors = [a, b]
        tensors.append(torch.empty_like(a))
        add_kernel[(triton.cdiv(a.numel(), meta["BLOCK"]),)](*tensors, a.numel(), **meta)
        return tensors.pop()
