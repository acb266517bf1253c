import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)


batch = 16
channels = 4096
width = 1024


def get_inputs():
    return [torch.randn(batch, channels, width)]


def get_init_inputs():
    return []
