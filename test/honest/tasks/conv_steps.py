# interpreter: too large (for the comparison with Triton's own)
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3)
        self.shift = nn.Parameter(torch.randn(out_channels))
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.conv(x) + self.shift.view(1, -1, 1, 1)
        x = torch.where(x > 0, x, x * -0.5)
        x = self.act(x - 0.25)
        return x.mean(dim=(2, 3))


batch = 16
in_channels = 8
out_channels = 16
size = 66


def get_inputs():
    return [torch.randn(batch, in_channels, size, size)]


def get_init_inputs():
    return [in_channels, out_channels]
