# C3: a tensor that computes when somebody looks at it
# task: scale
# track: strict
# expect: ast forbidden_name
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class Lazy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*[a.compute() if isinstance(a, Lazy) else a for a in args], **(kwargs or {}))

    def compute(self):
        out = torch.empty_like(self.source)
        scale_kernel[(triton.cdiv(out.numel(), 256),)](self.source, out, out.numel(), BLOCK=256)
        return out

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x).as_subclass(Lazy)
        out.source = x
        return out
