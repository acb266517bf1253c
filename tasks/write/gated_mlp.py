import torch
from torch import nn


class GatedMlp(nn.Module):
    """Feed-forward block of a transformer: norm, two projections, gate, projection, residual."""

    def __init__(self, dim, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.gate_proj = nn.Linear(dim, hidden)
        self.up_proj = nn.Linear(dim, hidden)
        self.down_proj = nn.Linear(hidden, dim)

    def forward(self, x):
        h = self.norm(x)
        h = nn.functional.silu(self.gate_proj(h)) * self.up_proj(h)
        return x + self.down_proj(h)
