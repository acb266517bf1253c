# An optional library that is missing.
import torch
import torch.nn as nn
import torch.nn.functional as F


try:
    from apex.normalization import FusedLayerNorm as Norm
except ImportError:
    Norm = nn.LayerNorm

try:
    import flash_attn
    HAS_FLASH = True
except Exception:
    HAS_FLASH = False


class Model(nn.Module):

    def __init__(self):
        super().__init__()
        self.norm = Norm(4)

    def forward(self, x):
        try:
            return self.norm(x.missing)
        except AttributeError:
            return self.norm(x) + HAS_FLASH


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
