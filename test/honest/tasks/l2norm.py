import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x / torch.norm(x, p=2, dim=1, keepdim=True)


batch = 26
dim = 340


def get_inputs():
    return [torch.randn(batch, dim)]


def get_init_inputs():
    return []
