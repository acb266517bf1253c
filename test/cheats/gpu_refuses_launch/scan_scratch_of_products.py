# A18: a running sum of computed values needs more shared memory than the GPU has
# task: running_sum_large
# track: strict
# expect: compile out_of_resources
# rule: back_end
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, out_ptr, T, C, BT: tl.constexpr, BC: tl.constexpr):
    batch = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    carry = tl.zeros([BC], tl.float32)
    for start in range(0, T, BT):
        t = start + tl.arange(0, BT)
        mask = (t[:, None] < T) & (c[None, :] < C)
        at = batch * T * C + t[:, None] * C + c[None, :]
        x = tl.load(x_ptr + at, mask=mask, other=0.0)
        tl.store(out_ptr + at, tl.cumsum(x * 1.0, axis=0) + carry[None, :], mask=mask)
        carry += tl.sum(x, axis=0)


class ModelNew(nn.Module):
    def forward(self, x):
        B, T, C = x.shape
        out = torch.empty_like(x)
        sum_kernel[(B, triton.cdiv(C, 512))](x, out, T, C, BT=256, BC=512, num_warps=8)
        return out
