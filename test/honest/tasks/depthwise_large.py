import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, filters, window):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, window, groups=channels, bias=False)

    def forward(self, x):
        return self.conv(x)


batch = 64
channels = 128
filters = 128
height = 32
width = 512
window = 3


def get_inputs():
    return [torch.rand(batch, channels, height, width)]


def get_init_inputs():
    return [channels, filters, window]
