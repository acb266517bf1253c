import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.sum(torch.relu(x), dim=1)


batch = 64
width = 1048576


def get_inputs():
    return [torch.randn(batch, width)]


def get_init_inputs():
    return []
