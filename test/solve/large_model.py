import torch
import torch.nn as nn


class Model(nn.Module):
    """A layer of 64 MB, which the judge makes smaller."""

    def __init__(self, width, hidden):
        super().__init__()
        self.layer = nn.Linear(width, hidden)
        self.shift = nn.Parameter(torch.randn(hidden))

    def forward(self, x):
        return torch.relu(self.layer(x) - self.shift)


ROWS = 512
WIDTH = 4096
HIDDEN = 4096


def get_inputs():
    return [torch.rand(ROWS, WIDTH)]


def get_init_inputs():
    return [WIDTH, HIDDEN]
