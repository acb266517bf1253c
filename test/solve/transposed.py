# Transposed convolutions: strides that divide the result, dilation, groups, output padding.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.wide = nn.ConvTranspose2d(4, width, 4, stride=2, padding=1)
        self.odd = nn.ConvTranspose2d(width, 4, 3, stride=2, padding=1, output_padding=1)
        self.blocks = nn.ConvTranspose2d(4, 4, 2, stride=2, groups=2)
        self.spread = nn.ConvTranspose2d(4, 2, 3, stride=2, dilation=2)

    def forward(self, x):
        return self.spread(self.blocks(torch.relu(self.odd(self.wide(x)))))


def get_inputs():
    return [torch.rand([2, 4, 3, 3])]


def get_init_inputs():
    return []
