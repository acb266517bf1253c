# Real modules that nothing uses cost nothing.
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
import torch.nn.parallel as parallel
import torch.utils.data
import torch.utils.data.distributed
import torch.multiprocessing as mp
import torch.hub
from torch.optim.lr_scheduler import StepLR


class Model(nn.Module):

    def forward(self, x):
        assert not isinstance(x, parallel.DistributedDataParallel)
        return x * 2 + 1


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
