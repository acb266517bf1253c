# Every mode of interpolation.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True)
        self.near = nn.UpsamplingNearest2d(scale_factor=2)

    def forward(self, x):
        a = F.interpolate(x, scale_factor=1.5, mode='bicubic', align_corners=False)
        b = F.interpolate(x, size=5, mode='area')
        c = F.interpolate(x.flatten(2), scale_factor=2, mode='linear')
        d = F.interpolate(x.unsqueeze(2), size=(2, 6, 6), mode='trilinear', align_corners=True)
        return self.up(x), self.near(x), a, b, c, d, F.upsample_bilinear(x, size=(7, 7))


def get_inputs():
    return [torch.rand([2, 3, 4, 4])]


def get_init_inputs():
    return []
