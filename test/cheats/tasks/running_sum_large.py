import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(x, dim=1)


batch = 16
steps = 512
width = 2048


def get_inputs():
    return [torch.randn(batch, steps, width)]


def get_init_inputs():
    return []
