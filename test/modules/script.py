# Functions and modules under torch.jit decorators.
import torch
import torch.nn as nn
import torch.nn.functional as F


@torch.jit.script
def fused(x, bias):
    return F.leaky_relu(x + bias, 0.2)


class Model(nn.Module):
    limit: torch.jit.Final[int]

    def __init__(self):
        super().__init__()
        self.limit = 3
        self.bias = nn.Parameter(torch.zeros(4))

    @torch.jit.ignore
    def extra(self, x):
        return x - 1

    @torch.jit.export
    def forward(self, x):
        if torch.jit.is_scripting():
            return x
        return self.extra(fused(x, self.bias)) * self.limit


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
