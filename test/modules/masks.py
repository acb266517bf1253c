# masked_fill, masked_select, where, boolean subscripts.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def forward(self, q, k):
        scores = torch.matmul(q, k.transpose(-1, -2)) / q.size(-1) ** 0.5
        mask = torch.tril(torch.ones_like(scores, dtype=torch.uint8)).bool()
        p = F.softmax(scores.masked_fill(~mask, float('-inf')), dim=-1)
        high = scores > scores.mean(-1, keepdim=True)
        out = torch.where(high, p, torch.zeros_like(p))
        out[out < 0.1] = -1
        return out, high.float().sum(), torch.logical_and(high, mask).any(-1)


def get_inputs():
    return [torch.rand([4, 4, 4, 4]), torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
