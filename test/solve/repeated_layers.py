# Two layers of one kind, a branch of the constructor that looks into types, and a method that only forward used.
import torch
import torch.nn as nn
from torch import nn as nn


class Block(nn.Module):
    def __init__(self, inputs, outputs, norm=nn.BatchNorm2d):
        super().__init__()
        if type(norm) == str:
            raise ValueError("norm is a class")
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm = norm(outputs)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


class Model(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.layers = nn.ModuleList([Block(4, width), Block(width, width), Block(width, 4)])

    def run_layers(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def forward(self, x):
        return self.run_layers(x)


def get_inputs():
    return [torch.rand([4, 4, 6, 6])]


def get_init_inputs():
    return []
