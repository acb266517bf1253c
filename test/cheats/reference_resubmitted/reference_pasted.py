# A5: the reference pasted
# task: linear
# track: hybrid
# expect: ast no_kernel
import torch
import torch.nn as nn
import triton
import triton.language as tl

class ModelNew(nn.Module):
    """A faster version."""
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.linear(x))
