import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.linear = nn.Linear(features, hidden, bias=False)
        self.bias = nn.Parameter(torch.randn(hidden))

    def forward(self, x):
        return torch.relu(self.linear(x) + self.bias)

batch = 1024
features = 8192
hidden = 8192

def get_inputs():
    return [torch.rand(batch, features)]

def get_init_inputs():
    return [features, hidden]
