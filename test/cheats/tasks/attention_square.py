import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, q, k, v):
        s = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * 0.125, dim=-1)
        return torch.matmul(s, v)


batch = 16
length = 2048


def get_inputs():
    return [torch.randn(batch, length, 64), torch.randn(batch, length, 64), torch.randn(batch, length, 64)]


def get_init_inputs():
    return []
