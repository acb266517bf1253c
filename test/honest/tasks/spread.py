import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, kernel_size, stride):
        super().__init__()
        self.conv = nn.ConvTranspose1d(channels, channels, kernel_size, stride=stride, groups=channels, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(64, 8, 8192)]


def get_init_inputs():
    return [8, 2, 5]
