# Mixins and cooperative super() chains.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Scaled:

    def __init__(self, *args, factor=2.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.factor = factor

    def scaled(self, x):
        return x * self.factor


class Shifted:

    def __init__(self, *args, shift=1.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.shift = shift


class Model(Scaled, Shifted, nn.Module):

    def __init__(self, factor):
        super().__init__(factor=factor, shift=0.25)

    def forward(self, x):
        return self.scaled(x) + self.shift


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return [3.0]
