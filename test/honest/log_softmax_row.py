# task: log_softmax
# style: log of the sum, keyword arguments throughout
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def log_softmax_kernel(x_ptr, y_ptr, n_classes, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_classes
    x = tl.load(x_ptr + row * n_classes + cols, mask=mask, other=float("-inf"))
    m = tl.max(x, axis=0)
    lse = tl.log(tl.sum(tl.exp(x - m), axis=0)) + m
    tl.store(y_ptr + row * n_classes + cols, x - lse, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        y = torch.empty_like(x)
        log_softmax_kernel[(x.shape[0],)](x_ptr=x, y_ptr=y, n_classes=x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
