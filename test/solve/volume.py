import torch
import torch.nn as nn


class Model(nn.Module):
    """A padded convolution of a volume: the first element of its window is size * size + size + 1 before."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(4, 8, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x))


DEPTH = 8
SIZE = 64


def get_inputs():
    return [torch.rand(2, 4, DEPTH, SIZE, SIZE)]


def get_init_inputs():
    return []
