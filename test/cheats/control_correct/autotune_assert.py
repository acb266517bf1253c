# control: a configuration that a tl.static_assert keeps out, and one that is pruned
# task: scale
# track: strict
# expect: timing ok
import torch
import torch.nn as nn
import triton
import triton.language as tl

def small(configs, args, **kwargs):
    return [c for c in configs if c.kwargs["BLOCK"] < 4096]

@triton.autotune(configs=[triton.Config({"BLOCK": b}) for b in (64, 512, 8192, 256)], key=["n"], prune_configs_by={"early_config_prune": small})
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.static_assert(BLOCK < 512, "at most 256")
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        x = tl.load(x_ptr + offs)
        tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5)
    else:
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=offs < n)

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scale_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
        return out
