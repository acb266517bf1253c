# Tables made with numpy in the constructor.
import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np


class Model(nn.Module):

    def __init__(self, size=4):
        super().__init__()
        yy, xx = np.mgrid[0:size, 0:size]
        og = np.ogrid[:size, :size]
        filt = (1 - abs(og[0] - 1.5) / 2) * (1 - abs(og[1] - 1.5) / 2)
        rows, cols = np.triu_indices(size, 1)
        self.register_buffer('grid', torch.from_numpy(np.stack([xx, yy]).astype(np.float32)))
        self.register_buffer('filt', torch.from_numpy(filt).float())
        self.rows, self.cols = torch.from_numpy(rows), torch.from_numpy(cols)
        self.mean = np.append(np.arange(3.0), np.median([1.0, 4.0, 2.0]))

    def forward(self, x):
        out = x * self.filt + self.grid.sum(0) / self.mean.sum()
        return out, out[:, :, self.rows, self.cols]


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return [4]
