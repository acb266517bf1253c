# A ModuleList made from a list of classes.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    layers = [nn.ReLU, nn.Tanh, nn.Sigmoid, nn.SiLU]

    def __init__(self):
        super().__init__()
        self.acts = nn.ModuleList([c() for c in self.layers])
        self.named = nn.ModuleDict({'a': nn.GELU(), 'b': nn.ELU()})

    def forward(self, x):
        out = sum(a(x) for a in self.acts)
        for name, m in self.named.items():
            out = out + m(x)
        return out


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
