# task: softmax
# style: nested functions and a closure over the shapes
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + c, mask=c < n, other=float("-inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + c, e / tl.sum(e, 0), mask=c < n)


class ModelNew(nn.Module):
    def forward(self, x):
        *lead, n = x.shape

        def block():
            return triton.next_power_of_2(n)

        def launch(src):
            dst = torch.empty_like(src)
            rows = 1
            for size in lead:
                rows *= size
            softmax_kernel[(rows,)](src, dst, n, BLOCK=block())
            return dst

        return launch(x if x.is_contiguous() else x.contiguous())
