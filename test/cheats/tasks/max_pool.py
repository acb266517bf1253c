import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.pool = nn.MaxPool1d(window, stride=1, padding=4)

    def forward(self, x):
        return self.pool(x)


batch = 8
length = 512
window = 8


def get_inputs():
    return [torch.rand(batch, 3, length)]


def get_init_inputs():
    return [window]
