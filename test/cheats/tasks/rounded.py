import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.round(x)


batch = 16
dim = 300


def get_inputs():
    return [torch.randn(batch, dim)]


def get_init_inputs():
    return []
