# A lookup: embedding with positions, summed and projected on the table again.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.tok = nn.Embedding(words, width)
        self.pos = nn.Embedding(10, width)

    def forward(self, idx):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1), device=idx.device))
        return torch.tanh(x) @ self.tok.weight.t()


def get_inputs():
    return [torch.randint(0, 20, (3, 10))]


def get_init_inputs():
    return [20, 24]
