import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.sum(x, dim=0)


rows = 200
cols = 77


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
