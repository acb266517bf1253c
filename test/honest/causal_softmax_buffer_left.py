# task: causal_softmax
# style: the mask is known from the indices, its buffer is kept for the state dict alone
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def causal_softmax(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + c, mask=c <= row % n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n + c, e / tl.sum(e, axis=0), mask=c < n)


class ModelNew(nn.Module):
    def __init__(self, most):
        super().__init__()
        self.register_buffer("bias", torch.tril(torch.ones(most, most)).view(1, most, most))

    def forward(self, scores):
        scores = scores.contiguous()
        n = scores.shape[-1]
        y = torch.empty_like(scores)
        causal_softmax[(scores.numel() // n,)](scores, y, n, BLOCK=triton.next_power_of_2(n))
        return y
