import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.t().contiguous() * 2.0


rows = 70
cols = 45


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
