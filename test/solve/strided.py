import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Reductions over a dimension that is not the last one, rows of 100 and products of two layouts."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(96, 72))

    def forward(self, x, y):
        a = F.softmax(x, dim=1)
        b = x.amax(dim=1) + y.view(4, 30, 50, 96).mean(dim=3)
        return a, b, torch.matmul(y, self.weight), F.layer_norm(y, (96,))


def get_inputs():
    return [torch.rand([4, 70, 30, 50]), torch.rand([6000, 96])]


def get_init_inputs():
    return []
