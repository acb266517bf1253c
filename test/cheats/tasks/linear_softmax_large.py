import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.linear = nn.Linear(features, hidden)

    def forward(self, x):
        return torch.softmax(self.linear(x), dim=1)


batch = 1024
features = 4096
hidden = 4096


def get_inputs():
    return [torch.rand(batch, features)]


def get_init_inputs():
    return [features, hidden]
