import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.sum(x, dim=1) - torch.mean(x)


batch = 16
height = 1024
width = 2048


def get_inputs():
    return [torch.rand(batch, height, width)]


def get_init_inputs():
    return []
