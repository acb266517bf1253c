import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.gn = nn.GroupNorm(groups, channels)

    def forward(self, x):
        return self.gn(x)


batch = 3
channels = 8
groups = 4
size = 10


def get_inputs():
    return [torch.randn(batch, channels, size, size)]


def get_init_inputs():
    return [groups, channels]
