# Activation layers, in place and not.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self):
        super().__init__()
        self.acts = nn.ModuleList([nn.PReLU(4), nn.SELU(), nn.CELU(0.5), nn.Mish(), nn.Softplus(beta=2), nn.Hardswish(), nn.GLU(1),
                                   nn.Softsign(), nn.LogSigmoid(), nn.Softmax2d(), nn.Softmin(1), nn.Hardshrink(0.2), nn.Threshold(0.3, 0.1)])

    def forward(self, x):
        out = [a(x - 0.5) for a in self.acts]
        y = F.leaky_relu_(x - 0.6, 0.1)
        return out + [F.elu_(F.relu_(y) - 0.1), F.hardtanh_(y * 3), F.gelu(x, approximate='tanh'), torch.sigmoid_(y.clone())]


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
