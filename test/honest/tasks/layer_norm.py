import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=eps)

    def forward(self, x):
        return self.norm(x)


rows = 64
width = 192


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width]
