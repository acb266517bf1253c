# A20: one configuration of four leaves out the ReLU, which only negative inputs show
# task: relu
# track: strict
# expect: full wrong_value
# rule: configs
# names: KEEP: 0
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 128, "KEEP": i}) for i in (1, 2, 3, 0)], key=["n"])
@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, KEEP: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    if KEEP:
        x = tl.maximum(x, 0.0)
    tl.store(out_ptr + offs, x * 2.0, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        relu_kernel[lambda m: (triton.cdiv(n, m["BLOCK"]),)](x, out, n)
        return out
