# Signatures and names of old versions that PyTorch still accepts.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable


class Model(nn.Module):

    def __init__(self):
        super().__init__()
        self.decay = 0.9
        self.w = nn.Parameter(torch.Tensor(size=(4, 4)).uniform_(-1, 1).renorm_(2, 1, 1e-5).mul_(1e5))

    def forward(self, x):
        m = Variable(torch.zeros(4, 4, 4, 4)).type_as(x)
        m = m.mul_(self.decay).add_(1 - self.decay, x)
        m = torch.add(m, 2, x)
        m = torch.addcmul(m, 0.5, x, x)
        y = F.upsample(m, scale_factor=2, mode='nearest')
        return F.sigmoid(F.tanh(y)), torch.clamp(x, 0, self.w.data.max()), m.view(4, -1).mm(m.view(4, -1).t())


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
