# Memory that is written in parts and in place.
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        out = torch.zeros_like(x)
        out[:, 1:] = x[:, :-1]
        out[:, 0] += x.sum(dim=1)
        out.mul_(0.5).clamp_(min=-1)
        return out


def get_inputs():
    return [torch.randn(7, 33)]


def get_init_inputs():
    return []
