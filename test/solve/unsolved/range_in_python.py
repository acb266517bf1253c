import torch
import torch.nn as nn


class Model(nn.Module):
    """The step of a quantization is computed in Python from the elements of the input."""

    def forward(self, x):
        step = (max(x.max().item(), 0) - min(x.min().item(), 0)) / 255
        return torch.round(x / step) * step


def get_inputs():
    return [torch.rand([4, 16])]


def get_init_inputs():
    return []
