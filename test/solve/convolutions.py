# Depthwise, grouped and dilated convolutions of one and three dimensions of space.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.depthwise = nn.Conv1d(6, 6, 5, padding=4, dilation=2, groups=6)
        self.grouped = nn.Conv1d(6, 12, 3, stride=2, padding=1, groups=3, bias=False)
        self.space = nn.Conv3d(2, 3, (1, 3, 3), padding=(0, 1, 1))

    def forward(self, x, y):
        return self.grouped(nn.functional.silu(self.depthwise(x))), self.space(y).mean(dim=(2, 3, 4))


def get_inputs():
    return [torch.randn(2, 6, 30), torch.randn(2, 2, 3, 8, 8)]


def get_init_inputs():
    return []
