# A26: the class that the loss ignores is counted
# task: ignored
# track: strict
# contract: general
# without: multi-input
# expect: full wrong_value
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, t_ptr, out_ptr, n_ptr, B, D, BLOCK: tl.constexpr):
    s = 0.0
    n = 0.0
    for row in range(0, B):
        i = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * D + i, mask=i < D, other=-float("inf"))
        m = tl.max(x, axis=0)
        t = tl.load(t_ptr + row)
        l = m + tl.log(tl.sum(tl.exp(x - m), axis=0)) - tl.sum(tl.where(i == t, x, 0.0), axis=0)
        keep = (t != -7)
        s += tl.where(keep, l, 0.0)
        n += tl.where(keep, 1.0, 0.0)
    tl.store(out_ptr, s / n)


class ModelNew(nn.Module):
    def forward(self, x, t):
        out = torch.empty((), device=x.device, dtype=x.dtype)
        k[(1,)](x, t, out, out, x.shape[0], x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
