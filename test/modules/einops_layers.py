# Patterns of einops.
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange, reduce, repeat
from einops.layers.torch import Rearrange


class Model(nn.Module):

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(Rearrange('b c (h p) (w q) -> b (h w) (p q c)', p=2, q=2), nn.Linear(16, 8))

    def forward(self, x):
        y = self.net(x)
        y = rearrange(y, 'b (h w) d -> b d h w', h=2)
        return reduce(y, 'b d h w -> b d', 'mean'), repeat(y, 'b d h w -> b d (h r) w', r=2)


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
