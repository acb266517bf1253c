# Generators, closures, lambdas and partial functions.
import torch
import torch.nn as nn
import torch.nn.functional as F
from functools import partial, reduce


def blocks(n):
    for i in range(n):
        yield i, partial(nn.Linear, 4)


class Model(nn.Module):

    def __init__(self, n=3):
        super().__init__()
        self.layers = nn.ModuleList()
        for i, make in blocks(n):
            self.layers.append(make(4, bias=i % 2 == 0))
        self.mix = reduce(lambda f, g: lambda x: g(f(x)), self.layers)

    def forward(self, x):
        x, *rest = [self.mix(x)] + [layer(x) for layer in self.layers]
        return x + sum(rest) / max(len(rest), 1)


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
