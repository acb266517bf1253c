import torch
import torch.nn as nn


class Model(nn.Module):
    """The branch that the first value of a weight takes is not that of other weights."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.tensor(0.0))

    def forward(self, x):
        if self.gain == 0.0:
            return torch.tanh(x)
        return torch.tanh(self.gain * x) / self.gain


def get_inputs():
    return [torch.rand([4, 16])]


def get_init_inputs():
    return []
