# A factorisation, which no kernel is written for.
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.linalg.qr(x)[0] * 2


def get_inputs():
    return [torch.randn(8, 8)]


def get_init_inputs():
    return []
