# locals() and vars() keep the arguments of a constructor.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self, width, depth=2, bias=True):
        super(Model, self).__init__()
        config = locals()
        del config['self'], config['__class__']
        self.__dict__.update(config)
        self.layers = nn.ModuleList([nn.Linear(width, width, bias=bias) for _ in range(self.depth)])
        assert sorted(config) == ['bias', 'depth', 'width'] and vars(self)['width'] == width

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return [4]
