from _paritybench_helpers import _mock_config
import torch
import torch.nn as nn


class Deep(nn.Module):

    def __init__(self, config, dim=4):
        super(Deep, self).__init__()
        layers = []
        for i in range(3):
            layers.append(nn.Linear(dim, dim))
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return torch.relu(self.net(x)) * 0.5


def get_inputs():
    return [torch.rand([4, 4])]


def get_init_inputs():
    return [[], {'config': _mock_config(a=4), 'dim': 4}]
