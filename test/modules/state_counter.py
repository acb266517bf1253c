# forward counts its calls and keeps its last result.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self):
        super().__init__()
        self.calls = 0
        self.last = None
        self.register_buffer('steps', torch.zeros(1, dtype=torch.long))

    def forward(self, x):
        self.calls += 1
        self.steps += 1
        self.last = x.detach()
        return x * 2 if self.training else x


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
