# A20: a heuristic depends on the number of warps of the configuration
# task: scale
# track: strict
# expect: tiny wrong_value
# rule: configs
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=4), triton.Config({"BLOCK": 128}, num_warps=8)], key=["n"])
@triton.heuristics({"S": lambda args: 3.0 if args["num_warps"] == 4 else 2.0})
@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, S: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * S + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        scale_kernel[lambda m: (triton.cdiv(n, m["BLOCK"]),)](x, out, n)
        return out
