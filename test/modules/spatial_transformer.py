# affine_grid and grid_sample.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self):
        super().__init__()
        self.theta = nn.Linear(3 * 36, 6)
        self.theta.weight.data.mul_(0.1)
        self.theta.bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))

    def forward(self, x):
        theta = self.theta(x.flatten(1)).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        y = F.grid_sample(x, grid, align_corners=False)
        z = F.grid_sample(x, F.affine_grid(theta, [2, 3, 4, 5], align_corners=True), padding_mode='border', align_corners=True)
        return y, z


def get_inputs():
    return [torch.rand([2, 3, 6, 6])]


def get_init_inputs():
    return []
