# task: l2norm
# style: squares summed in fp32, division by the root
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def l2(x, y, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * D + c, mask=c < D, other=0.0)
    f = v.to(tl.float32)
    norm = tl.sqrt_rn(tl.sum(f * f, axis=0))
    tl.store(y + row * D + c, (f / norm).to(v.dtype), mask=c < D)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        l2[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]), num_warps=2)
        return y
