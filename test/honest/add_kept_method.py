# task: add
# style: the class keeps a function as its own, the constructor chooses a method
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    y = tl.load(y_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, x + y, mask=mask)


def launch(x, y, block=256):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), block),)](x, y, out, x.numel(), BLOCK=block)
    return out


class ModelNew(nn.Module):
    op = staticmethod(launch)

    def __init__(self, small=False):
        super().__init__()
        self.run = self.by_rows if small else self.whole

    def by_rows(self, x, y):
        return self.op(x, y, 64)

    def whole(self, x, y):
        return self.op(x, y)

    def forward(self, x, y):
        return self.run(x, y)
