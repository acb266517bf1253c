# task: l2norm
# style: a helper that returns a tuple, keyword-only launch
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_and_norm(ptr, n, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    v = tl.load(ptr + c, mask=c < n, other=0.0)
    return v, tl.sqrt(tl.sum(v * v, axis=0).to(tl.float32))


@triton.jit
def normalise(src, dst, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    v, norm = row_and_norm(src + row * n, n, BLOCK)
    c = tl.arange(0, BLOCK)
    tl.store(dst + row * n + c, v / norm, mask=c < n)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        out = torch.empty_like(x)
        normalise[(rows,)](src=x, dst=out, n=n, BLOCK=triton.next_power_of_2(n))
        return out
