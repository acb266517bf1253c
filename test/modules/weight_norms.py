# weight_norm and spectral_norm, both kinds, added and removed.
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils.weight_norm as weightNorm


class Model(nn.Module):

    def __init__(self, c):
        super().__init__()
        self.a = nn.utils.weight_norm(nn.Conv2d(c, c, 3, padding=1))
        self.b = weightNorm(nn.Linear(c, c), name='weight', dim=None)
        self.c = nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Conv2d(c, c, 1)))
        self.d = nn.utils.parametrizations.weight_norm(nn.Conv2d(c, c, 1))

    def forward(self, x):
        return self.d(self.c(self.b(self.a(x))))


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return [4]
