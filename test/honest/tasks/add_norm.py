import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x, residual):
        h = x + residual
        return self.norm(h), h


rows = 31
width = 128


def get_inputs():
    return [torch.randn(rows, width), torch.randn(rows, width)]


def get_init_inputs():
    return [width]
