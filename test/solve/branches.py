# Branches that are joined: pools, padding, slices, a permuted result.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        a = F.max_pool2d(x, kernel_size=3, stride=1, padding=1)
        b = F.avg_pool2d(F.pad(x, (1, 1, 1, 1), mode="reflect"), 3, stride=1)
        c, d = torch.chunk(x, 2, dim=1)
        joined = torch.cat([a, b, d * 2, c.abs()], dim=1)
        return joined.permute(0, 2, 3, 1)


def get_inputs():
    return [torch.randn([2, 4, 8, 8])]


def get_init_inputs():
    return []
