# task: add
# style: the first configuration that runs is taken, in a try, and remembered in an object made for the call
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + offs, mask=offs < n)
    b = tl.load(b_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, a + b, mask=offs < n)


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = torch.empty_like(a)
        n = out.numel()
        for config in (triton.Config({"BLOCK": 1024}), triton.Config({"BLOCK": 512})):
            try:
                best = config
                best.block = config.kwargs["BLOCK"]
                add_kernel[(triton.cdiv(n, best.block),)](a, b, out, n, BLOCK=best.block)
                break
            except Exception:
                continue
        return out
