# control: parameters under names of its own, in the reference's order, and a counter besides
# task: norm
# track: strict
# expect: timing ok
# says: "weights":"order"
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def norm_kernel(x_ptr, w_ptr, b_ptr, out_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < D
    x = tl.load(x_ptr + row * D + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / D
    d = tl.where(mask, x - mean, 0.0)
    var = tl.sum(d * d, axis=0) / D
    y = d / tl.sqrt(var + 1e-5)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * D + cols, y * w + b, mask=mask)

class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self.gamma = nn.Parameter(torch.ones(dim))
        self.beta = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        out = torch.empty_like(x)
        norm_kernel[(x.shape[0],)](x, self.gamma, self.beta, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
