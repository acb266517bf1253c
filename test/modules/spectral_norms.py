# Spectral norm in eval and training mode.
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils.spectral_norm as SpectralNorm


class Model(nn.Module):

    def __init__(self, c):
        super().__init__()
        self.a = SpectralNorm(nn.Conv2d(c, c, 3, padding=1))
        self.b = nn.utils.parametrizations.spectral_norm(nn.Linear(c, c))
        self.c = SpectralNorm(nn.ConvTranspose2d(c, 2, 2, stride=2))

    def forward(self, x):
        return self.c(self.b(self.a(x)))


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return [4]
