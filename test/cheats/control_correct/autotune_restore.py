# control: sums whose old value the autotuner puts back
# task: rowsum
# track: strict
# expect: timing ok
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"SPLIT": 1}), triton.Config({"SPLIT": 2})], key=["rows", "cols"], restore_value=["out_ptr"])
@triton.jit
def sum_kernel(x_ptr, out_ptr, rows, cols, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < cols
    total = tl.zeros([BLOCK], tl.float32)
    for row in range(tl.program_id(1), rows, SPLIT):
        total += tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0)
    tl.atomic_add(out_ptr + offs, total, mask=mask)

class ModelNew(nn.Module):
    def forward(self, x):
        rows, cols = x.shape
        out = torch.zeros(cols, device=x.device, dtype=x.dtype)
        sum_kernel[lambda meta: (triton.cdiv(cols, 32), meta["SPLIT"])](x, out, rows, cols, BLOCK=32)
        return out
