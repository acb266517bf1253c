# An abstract base class with properties and class methods.
import torch
import torch.nn as nn
import torch.nn.functional as F
from abc import ABC, abstractmethod


class Block(nn.Module, ABC):
    expansion = 2

    @property
    def width(self):
        return self._width * self.expansion

    @abstractmethod
    def body(self, x):
        pass

    @classmethod
    def of(cls, n):
        return cls(n)

    def forward(self, x):
        return self.body(x)


class Model(Block):
    expansion = 1

    def __init__(self, n):
        super().__init__()
        self._width = n
        self.fc = nn.Linear(n, self.width)

    def body(self, x):
        return self.fc(x) if isinstance(self, Block) else x

    def __repr__(self):
        return f'{self.__class__.__name__}({self.width})'


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return [4]
