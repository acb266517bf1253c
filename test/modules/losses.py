# Losses as modules.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth
        self.bce = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))
        self.l1 = nn.SmoothL1Loss(reduction='sum')

    def forward(self, logits, target):
        p = torch.sigmoid(logits).contiguous().view(-1)
        t = target.contiguous().view(-1)
        dice = 1 - (2.0 * (p * t).sum() + self.smooth) / (p.sum() + t.sum() + self.smooth)
        focal = (-(1 - p) ** 2 * torch.log(p + 1e-8) * t).mean()
        kl = F.kl_div(F.log_softmax(logits, 1), F.softmax(target, 1), reduction='batchmean')
        return dice + focal, self.bce(logits, target), self.l1(logits, target), kl, F.cross_entropy(logits, target.argmax(1))


def get_inputs():
    return [torch.rand([4, 4, 4, 4]), torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
