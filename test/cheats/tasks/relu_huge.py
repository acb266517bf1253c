import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0


batch = 8192
dim = 393216


def get_inputs():
    return [torch.rand(batch, dim) - 0.5]


def get_init_inputs():
    return []
