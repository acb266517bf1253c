from typing import Tuple

import torch
import torch as pt
import torch.nn as nn


class Model(pt.nn.Module):
    """Members that only getattr reaches, an annotation that only forward uses, a branch with an import that never ran."""

    def __init__(self, width, fast=False):
        super().__init__()
        if fast:
            from torchvision.ops import DeformConv2d
            self.mix = DeformConv2d(width, width, 3)
        else:
            self.mix = nn.Identity()
        self.add_module("norm-1", nn.BatchNorm1d(width))

    def forward(self, x: torch.Tensor, self_mask: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        return getattr(self, "norm-1")(self.mix(x)) * self_mask, self_mask.sum()


def get_inputs():
    return [torch.rand([12, 20]), torch.rand([12, 20])]


def get_init_inputs():
    return [20]
