# hasattr and getattr on library modules.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 1)
        self.act = nn.ReLU()
        for m in self.modules():
            if hasattr(m, 'weight') and getattr(m, 'bias', None) is not None:
                m.bias.data.fill_(0.5)

    def forward(self, x):
        if hasattr(self, 'shortcut') or hasattr(self.act, 'weight') or hasattr(x, 'my_mark'):
            return x
        return self.act(self.conv(x))


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
