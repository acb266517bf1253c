# Branches that are joined along channels.
import torch
import torch.nn as nn
import torch.nn.functional as F


class ConvBN(nn.Module):

    def __init__(self, cin, cout, **kwargs):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(cout, eps=0.001)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)), inplace=True)


class Model(nn.Module):

    def __init__(self, c, block=ConvBN):
        super().__init__()
        self.a = block(c, 4, kernel_size=1)
        self.b = nn.Sequential(block(c, 4, kernel_size=1), block(4, 6, kernel_size=(1, 3), padding=(0, 1)))
        self.c = nn.Sequential(nn.AvgPool2d(3, 1, 1, count_include_pad=False), block(c, 2, kernel_size=1))

    def forward(self, x):
        return torch.cat([self.a(x), self.b(x), self.c(x), F.max_pool2d(x, 3, 1, 1)], 1)


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return [4]
