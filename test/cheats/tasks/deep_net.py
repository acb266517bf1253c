# Seven layers with activations, then a mean over each plane and a linear layer: a kernel that does one step of it
# does less than 5 % of the work, also outside products.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.layers = nn.ModuleList([
            nn.Sequential(nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, channels, 3, padding=1, bias=False))
            for _ in range(7)
        ])
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return F.relu(self.fc(x))


def get_inputs():
    return [torch.rand(4, 16, 32, 32)]


def get_init_inputs():
    return [16, 10]
