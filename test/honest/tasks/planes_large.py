import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0


batch = 32


def get_inputs():
    return [torch.randn(batch, 16, 201, 201)]


def get_init_inputs():
    return []
