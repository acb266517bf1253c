# Pooling with indices, unpooling, lp pooling.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool2d(2, 2, return_indices=True)
        self.unpool = nn.MaxUnpool2d(2, 2)
        self.lp = nn.LPPool2d(2, 2)

    def forward(self, x):
        y, index = self.pool(x)
        return self.unpool(y, index), self.lp(x), F.adaptive_max_pool2d(x, (3, 2)), F.avg_pool2d(x, 3, ceil_mode=True)


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
