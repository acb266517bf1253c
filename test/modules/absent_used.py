# What is used and missing is refused by its name.
# expect: torch.optim.SGD is not supported here
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class Model(nn.Module):

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.opt = optim.SGD(self.fc.parameters(), lr=0.1)

    def forward(self, x):
        return self.fc(x)


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
