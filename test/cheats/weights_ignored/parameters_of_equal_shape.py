# A23: parameters of one shape, which neither their names nor their values tell from each other
# task: norm
# track: strict
# without: reweight
# expect: tiny weights_differ
# names: under the same seed
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
        self.first = nn.Parameter(torch.rand(dim))
        self.second = nn.Parameter(torch.rand(dim))

    def forward(self, x):
        out = torch.empty_like(x)
        norm_kernel[(x.shape[0],)](x, self.first, self.second, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
