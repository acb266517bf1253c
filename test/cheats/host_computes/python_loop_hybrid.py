# A3: Python code computes and the kernel copies, on the track where torch may compute
# task: scale
# track: hybrid
# expect: full fig_leaf
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask, other=0.0) * 1.0, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.tensor([[max(v, 0.0) * 3.0 + 0.5 for v in row] for row in x.tolist()], device=x.device)
        out = torch.empty_like(x)
        n = x.numel()
        copy_kernel[(triton.cdiv(n, 256),)](y, out, n, BLOCK=256)
        return out
