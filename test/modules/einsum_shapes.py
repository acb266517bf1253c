# Products by einsum.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self, h):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(8, 24, bias=False)

    def forward(self, x):
        b, n, e = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.h, e // self.h).permute(2, 0, 3, 1, 4)
        attn = torch.einsum('bhid,bhjd->bhij', q, k).softmax(-1)
        out = torch.einsum('bhij,bhjd->bhid', attn, v)
        return out.transpose(1, 2).flatten(2), torch.einsum('...ii->...i', attn)


def get_inputs():
    return [torch.rand([2, 4, 8])]


def get_init_inputs():
    return [2]
