# Interpolation with antialias, up and down.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def forward(self, x):
        a = F.interpolate(x, size=(3, 5), mode='bilinear', antialias=True)
        b = F.interpolate(x, scale_factor=0.5, mode='bicubic', antialias=True)
        c = F.interpolate(x, size=(12, 9), mode='bilinear', align_corners=True, antialias=True)
        return a, b, c


def get_inputs():
    return [torch.rand([2, 3, 8, 8])]


def get_init_inputs():
    return []
