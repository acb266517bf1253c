import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


batch = 2
heads = 4
seq = 128
dim = 256


def get_inputs():
    return [torch.rand(batch, heads, seq, dim) for _ in range(3)]


def get_init_inputs():
    return []
