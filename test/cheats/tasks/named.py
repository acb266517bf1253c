import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.relu(x) * 2.0, 0.5 * x.shape[0], x.shape[1], "relu"

rows = 16
cols = 40

def get_inputs():
    return [torch.rand(rows, cols)]

def get_init_inputs():
    return []
