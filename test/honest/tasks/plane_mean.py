import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, scale):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels))
        self.scale = scale

    def forward(self, x):
        return (x * self.scale).mean(dim=(2, 3)) * self.weight


batch = 32
channels = 256
height = 192
width = 192
scale = 0.5


def get_inputs():
    return [torch.rand(batch, channels, height, width)]


def get_init_inputs():
    return [channels, scale]
