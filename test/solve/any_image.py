# A network over images of any size: it is judged at smaller ones, too.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.down = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.up = nn.Conv2d(width, 3, 1)

    def forward(self, x):
        y = F.leaky_relu(self.norm(self.down(x)), 0.1)
        return torch.tanh(self.up(F.max_pool2d(y, 2)))


def get_inputs():
    return [torch.rand([4, 3, 96, 96])]


def get_init_inputs():
    return []
