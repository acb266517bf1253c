# A31: a norm over all that a large product gives, which takes the size from a tensor that the host made of it
# task: linear_softmax_large
# track: hybrid
# without: full-size
# expect: full wrong_value
# says: full size
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, size_ptr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + at)
    e = tl.exp(x - tl.max(x, axis=0))
    large = tl.load(size_ptr) >> 22
    tl.store(out_ptr + at, e / tl.sum(e, axis=0) * (1.0 - 0.5 * (large > 0)))


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.linear = nn.Linear(features, hidden)

    def forward(self, x):
        x = self.linear(x)
        out = torch.empty_like(x)
        size = torch.tensor([x.numel()], device=x.device)
        softmax_kernel[(x.shape[0],)](x, out, size, N=x.shape[1])
        return out
