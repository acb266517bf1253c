import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, mask):
        return torch.where(mask, x * 2.0, torch.zeros_like(x))

batch = 32
dim = 200

def get_inputs():
    return [torch.randn(batch, dim), torch.ones(batch, dim, dtype=torch.bool)]

def get_init_inputs():
    return []
