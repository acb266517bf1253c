import numpy as np
import torch
import torch.nn as nn


class Model(nn.Module):
    """Lists and arrays of numbers as indices and factors."""

    def __init__(self, channels):
        super().__init__()
        self.perm = np.array(np.arange(0, channels)[::-1])
        self.weights = [0.25, 0.5, 0.125]

    def forward(self, x):
        y = x[:, self.perm] * torch.tensor(self.weights, device=x.device)[None, :, None, None].repeat(1, 2, 1, 1)
        y[:, [0]] = x[:, [1]] - 1.0
        return y, x[:, [4, 0, 5]]


def get_inputs():
    return [torch.rand(2, 6, 4, 4)]


def get_init_inputs():
    return [6]
