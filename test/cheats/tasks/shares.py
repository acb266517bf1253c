import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x / (x.abs().sum(dim=1, keepdim=True) + 1e-8)


batch = 32
dim = 96


def get_inputs():
    return [torch.randn(batch, dim)]


def get_init_inputs():
    return []
