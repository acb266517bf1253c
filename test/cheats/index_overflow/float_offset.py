# A28: offsets are computed in fp32, which rounds them beyond 16777216: lanes coincide and elements stay unwritten
# task: relu_large
# track: strict
# without: full-size
# expect: full uninitialised
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, W, B: tl.constexpr):
    at = (tl.program_id(0).to(tl.float32) * B + tl.arange(0, B)).to(tl.int32)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, tl.maximum(x, 0.0) * 2.0, mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        relu_kernel[(triton.cdiv(n, 1024),)](x, out, n, x.shape[-1], B=1024)
        return out
