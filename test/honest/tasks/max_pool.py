import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.pool = nn.MaxPool2d(k)

    def forward(self, x):
        return self.pool(x)


batch = 3
channels = 5
size = 20


def get_inputs():
    return [torch.randn(batch, channels, size, size)]


def get_init_inputs():
    return [2]
