# Coordinates from meshgrid and linspace.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c + 2, c, 1)

    def forward(self, x):
        b, _, h, w = x.size()
        yy, xx = torch.meshgrid(torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing='ij')
        coords = torch.stack([xx, yy]).unsqueeze(0).repeat(b, 1, 1, 1).type_as(x)
        return self.conv(torch.cat([x, coords], dim=1))


def get_inputs():
    return [torch.rand([4, 4, 5, 5])]


def get_init_inputs():
    return [4]
