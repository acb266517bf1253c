# Sizes computed with numpy in forward: floor and ceil of halves.
import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np


class Model(nn.Module):

    def __init__(self, channels, k=4):
        super().__init__()
        self.k = k
        self.conv = nn.Conv2d(channels, channels, k)

    def forward(self, x):
        h, w = x.shape[-2:]
        py, px = 0.5 * (self.k - 1), 0.5 * (self.k - 1)
        x = F.pad(x, [int(np.floor(px)), int(np.ceil(px)), int(np.floor(py)), int(np.ceil(py))])
        scale = h * w / 4 * np.log(16.0) / np.sqrt(2)
        return self.conv(x) * float(scale)


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return [4]
