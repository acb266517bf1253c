import torch
import torch.nn as nn


class SqueezeExcite(nn.Module):
    def __init__(self, channels, reduction=4):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Sequential(
            nn.Linear(channels, channels // reduction),
            nn.ReLU(inplace=True),
            nn.Linear(channels // reduction, channels),
            nn.Sigmoid(),
        )

    def forward(self, x):
        b, c, _, _ = x.shape
        w = self.fc(self.pool(x).view(b, c)).view(b, c, 1, 1)
        return x * w


class Model(nn.Module):
    """A residual convolution block with squeeze-and-excitation."""

    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.GroupNorm(8, channels)
        self.se = SqueezeExcite(channels)

    def forward(self, x):
        return torch.relu(x + self.se(self.norm(self.conv(x))))


def get_inputs():
    return [torch.randn(16, 64, 32, 32)]


def get_init_inputs():
    return [64]
