# MultiheadAttention with masks.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self, e, h):
        super().__init__()
        self.attn = nn.MultiheadAttention(e, h, dropout=0.0, batch_first=True)
        self.norm = nn.LayerNorm(e)

    def forward(self, x):
        n = x.size(1)
        causal = torch.triu(torch.ones(n, n, device=x.device), 1).bool()
        y, weights = self.attn(x, x, x, attn_mask=causal)
        return self.norm(x + y), weights


def get_inputs():
    return [torch.rand([2, 5, 8])]


def get_init_inputs():
    return [8, 2]
