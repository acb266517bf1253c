# interpreter: too large (for the comparison with Triton's own)
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inner, outer, window):
        super().__init__()
        self.conv = nn.Conv2d(inner, outer, window, padding=4)

    def forward(self, x):
        return self.conv(x)


batch = 8
inner = 2
outer = 16
window = 9
height = 512
width = 384


def get_inputs():
    return [torch.rand(batch, inner, height, width)]


def get_init_inputs():
    return [inner, outer, window]
