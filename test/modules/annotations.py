# Annotations that run code.
import torch
import torch.nn as nn
import torch.nn.functional as F
from typing import Tuple, Union


def match(t: torch.Tensor, *shape: Union[int, type(Ellipsis)]) -> Tuple[int, ...]:
    assert len(shape) == t.dim()
    return tuple(t.shape)


class Model(nn.Module):

    def forward(self, x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
        n: int = match(x, 4, 4, 4, 4)[0]
        return x * scale + n


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
