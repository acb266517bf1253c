import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        return torch.relu(x * self.scale)

batch = 64
channels = 4

def get_inputs():
    return [torch.randn(batch, channels)]

def get_init_inputs():
    return [channels]
