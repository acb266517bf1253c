# A class of an absent library may be a base of a class that nothing makes.
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.data.sampler


class Sampler(torch.utils.data.sampler.WeightedRandomSampler):

    def __iter__(self):
        return iter(range(3))


class Model(nn.Module):

    def forward(self, x):
        return torch.relu(x - 0.5)


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
