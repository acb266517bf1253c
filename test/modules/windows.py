# Window functions and framing.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self, n):
        super().__init__()
        self.register_buffer('window', torch.hann_window(n) * torch.hamming_window(n, periodic=False) + torch.blackman_window(n))

    def forward(self, x):
        frames = x.unfold(-1, self.window.size(0), 2) * self.window
        return F.conv1d(x.unsqueeze(1), self.window.flip(0).view(1, 1, -1), padding=2), frames.pow(2).mean(-1)


def get_inputs():
    return [torch.rand([3, 16])]


def get_init_inputs():
    return [6]
