# Dropout draws random numbers, so the module is judged, and solved, in evaluation mode.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.bn = nn.BatchNorm1d(width)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(torch.relu(self.bn(self.fc(x))))


def get_inputs():
    return [torch.randn(9, 40)]


def get_init_inputs():
    return [40]
