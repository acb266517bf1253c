import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.nn.functional.gelu(self.linear(x) / 10.0)

batch = 128
in_features = 2048
out_features = 256

def get_inputs():
    return [torch.rand(batch, in_features)]

def get_init_inputs():
    return [in_features, out_features]
