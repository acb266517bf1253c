# Padding layers.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self):
        super().__init__()
        self.pads = nn.ModuleList([nn.ReflectionPad2d(1), nn.ReplicationPad2d((1, 2, 0, 1)), nn.ZeroPad2d(2),
                                   nn.ConstantPad2d((1, 0, 2, 0), 3.5), nn.CircularPad2d(1)])

    def forward(self, x):
        return [p(x) for p in self.pads] + [F.pad(x, (-1, 1), value=2.0)]


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
