import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


batch = 8
heads = 16
seq = 2048
head = 64


def get_inputs():
    return [torch.randn(batch, heads, seq, head), torch.randn(batch, heads, seq, head), torch.randn(batch, heads, seq, head)]


def get_init_inputs():
    return []
