import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, s, v, mask):
        s = s.masked_fill(mask[:, None, :] == 0, -1e9)
        return torch.matmul(torch.softmax(s, dim=-1), v)


batch = 4
n = 32
head = 16


def get_inputs():
    return [torch.randn(batch, n, n), torch.randn(batch, n, head), torch.ones(batch, n, dtype=torch.long)]


def get_init_inputs():
    return []
