import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, kernel_size=3, stride=2, padding=1, bias=False)
        self.conv2 = nn.Conv2d(width, width, kernel_size=3, padding=1, bias=False)
        self.skip = nn.Conv2d(channels, width, kernel_size=1, stride=2, bias=False)

    def forward(self, x):
        return torch.relu(self.conv2(torch.relu(self.conv1(x))) + self.skip(x))


def get_inputs():
    return [torch.randn(8, 64, 32, 32)]


def get_init_inputs():
    return [64, 128]
