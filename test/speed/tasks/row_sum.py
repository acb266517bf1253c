import torch
import torch.nn as nn

rows = 4096
columns = 16384


class Model(nn.Module):
    def forward(self, x):
        return torch.sum(x, dim=1)


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return []
