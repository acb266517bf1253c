import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, mask):
        return torch.softmax(x.masked_fill(mask == 0, -1e9), dim=-1)


rows = 40
cols = 60


def get_inputs():
    return [torch.randn(rows, cols), torch.ones(rows, cols, dtype=torch.int32)]


def get_init_inputs():
    return []
