# Routing with loops over tensors and detached values.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable


def squash(v):
    n = (v ** 2).sum(-1, keepdim=True)
    return n * v / ((1.0 + n) * torch.sqrt(n))


class Model(nn.Module):

    def __init__(self, routes=8, caps=3):
        super().__init__()
        self.W = nn.Parameter(torch.randn(1, routes, caps, 5, 4))

    def forward(self, x):
        b = x.size(0)
        u = torch.stack([x] * 3, dim=2).unsqueeze(4)
        hat = torch.matmul(torch.cat([self.W] * b, dim=0), u)
        logits = Variable(torch.zeros(1, 8, 3, 1))
        for i in range(3):
            c = torch.cat([F.softmax(logits, dim=1)] * b, dim=0).unsqueeze(4)
            v = squash((c * hat).sum(dim=1, keepdim=True))
            if i < 2:
                agree = torch.matmul(hat.transpose(3, 4), torch.cat([v] * 8, dim=1))
                logits = logits + agree.squeeze(4).mean(dim=0, keepdim=True).detach()
        return v.squeeze(1)


def get_inputs():
    return [torch.rand([2, 8, 4])]


def get_init_inputs():
    return []
