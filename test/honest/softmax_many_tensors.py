# task: softmax_wide
# style: one tuple with more tensors than a kernel mostly has parameters; the last of them is the result
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_row(X, outs, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    x = tl.load(X + row * n + i, mask=i < n, other=-float("inf"))
    most = tl.max(x, axis=0)
    e = tl.exp(x - most)
    total = tl.sum(e, axis=0)
    for j in tl.static_range(len(outs) - 1):
        tl.store(outs[j] + row, most + j * total)
    tl.store(outs[len(outs) - 1] + row * n + i, e / total, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        rows, n = x.shape
        kept = [torch.empty(rows, device=x.device) for _ in range(66)]
        y = torch.empty_like(x)
        softmax_row[(rows,)](x, (*kept, y), n, BLOCK=triton.next_power_of_2(n), num_warps=8)
        return y
