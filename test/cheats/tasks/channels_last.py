import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return x.permute(0, 2, 3, 1).contiguous()

batch = 4
channels = 12
height = 24
width = 10

def get_inputs():
    return [torch.randn(batch, channels, height, width)]

def get_init_inputs():
    return []
