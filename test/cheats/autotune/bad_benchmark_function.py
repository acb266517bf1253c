# A20: the function that times configurations does not take the arguments Triton passes
# task: scale
# track: strict
# expect: tiny type_error
# names: quantiles
import torch
import torch.nn as nn
import triton
import triton.language as tl


def bench(call):
    return [1.0, 1.0, 1.0]

@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"], do_bench=bench)
@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        scale_kernel[lambda m: (triton.cdiv(n, m["BLOCK"]),)](x, out, n)
        return out
