# MultiheadAttention with learned keys and values, and other widths.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self):
        super().__init__()
        self.a = nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True)
        self.b = nn.MultiheadAttention(8, 4, kdim=6, vdim=5)

    def forward(self, q, k, v):
        x, w = self.a(q, q, q)
        y, _ = self.b(x, k, v, need_weights=False)
        return y, w


def get_inputs():
    return [torch.rand([4, 2, 8]), torch.rand([3, 2, 6]), torch.rand([3, 2, 5])]


def get_init_inputs():
    return []
