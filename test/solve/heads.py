import torch
import torch.nn as nn
import torch.nn.functional as F


class Heads(nn.Module):
    """Attention whose heads get a dimension of their own by copies."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(dim, dim * heads, bias=False)
        self.key = nn.Linear(dim, dim * heads, bias=False)
        self.value = nn.Linear(dim, dim * heads)
        self.join = nn.Linear(dim * heads, dim)

    def split(self, x):
        b, t, c = x.size()
        x = x.view(b, t, self.heads, c // self.heads)
        return x.transpose(1, 2).contiguous().view(b * self.heads, t, c // self.heads)

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = self.split(self.query(x)) / c**0.25, self.split(self.key(x)) / c**0.25, self.split(self.value(x))
        out = torch.bmm(F.softmax(torch.bmm(q, k.transpose(1, 2)), dim=2), v).view(b, self.heads, t, c)
        return self.join(out.transpose(1, 2).contiguous().view(b, t, self.heads * c))


class Model(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.own = Heads(dim, heads)
        self.library = nn.MultiheadAttention(dim, 1)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        x = F.silu(self.norm(x + self.own(x)))
        rows = x.reshape(-1, x.shape[-1])
        return x, self.library(rows, rows, rows)[0]


def get_inputs():
    return [torch.rand([2, 5, 6])]


def get_init_inputs():
    return [6, 4]
