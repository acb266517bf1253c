import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, cos, sin):
        half = x.shape[-1] // 2
        x1, x2 = x[..., :half], x[..., half:]
        return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1)


batch = 3
seq = 21
half = 16


def get_inputs():
    angle = torch.rand(seq, half) * 6.28
    return [torch.randn(batch, seq, 2 * half), torch.cos(angle), torch.sin(angle)]


def get_init_inputs():
    return []
