import torch
import torch.nn as nn
import torch.nn.functional as F


def small(m):
    if type(m) == nn.Linear:
        nn.init.uniform_(m.weight, -0.1, 0.1)


class Model(nn.Module):
    """A buffer that forward assigns anew, and an initialisation that chooses layers by their type."""

    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.Tanh())
        self.layers.apply(small)
        self.register_buffer("mean", torch.zeros(width))

    def forward(self, x):
        x = self.layers(x)
        self.mean = F.normalize(0.9 * self.mean + 0.1 * x.mean(dim=0), dim=0)
        return x - self.mean


def get_inputs():
    return [torch.rand([12, 20])]


def get_init_inputs():
    return [20]
