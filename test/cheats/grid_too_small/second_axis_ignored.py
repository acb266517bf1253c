# A27: the second axis of the grid is ignored
# task: relu_huge
# track: strict
# without: full-size
# expect: full uninitialised
# names: not write element
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, B: tl.constexpr):
    pid = tl.program_id(0)
    at = pid.to(tl.int64) * B + tl.arange(0, B)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask, other=0.0)
    tl.store(out_ptr + at, tl.maximum(x, 0.0) * 2.0, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        blocks = triton.cdiv(n, 1024)
        relu_kernel[(min(blocks, 4096), triton.cdiv(blocks, 4096))](x, out, n, B=1024)
        return out
