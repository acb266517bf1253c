# Elementwise operators with a weight, a transposed view and two results.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, scale):
        super(Model, self).__init__()
        self.scale = scale
        self.bias = nn.Parameter(torch.randn(64))

    def forward(self, x, y):
        z = torch.sigmoid(x * self.scale + self.bias) * y.transpose(0, 1)
        return torch.relu(z - 0.25), z


def get_inputs():
    return [torch.randn(32, 64), torch.randn(64, 32)]


def get_init_inputs():
    return [0.5]
