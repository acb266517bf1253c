# task: add
# style: the layout and the version are asked for
import torch
import torch.nn as nn
import triton
import triton.language as tl

MAJOR = int(torch.__version__.split(".")[0])
assert MAJOR >= 2 and triton.__version__


@triton.jit
def add_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(a_ptr + offs, mask=mask) + tl.load(b_ptr + offs, mask=mask), mask=mask)


class ModelNew(nn.Module):
    def forward(self, a, b):
        assert a.layout == torch.strided
        out = torch.empty(a.size(), dtype=a.dtype, device=a.device, layout=a.layout)
        n = a.numel()
        add_kernel[(triton.cdiv(n, 256),)](a, b, out, n, BLOCK=256)
        return out
