# Methods of tensors that are functions of torch.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def forward(self, x):
        return (x.diff(dim=1), x.kron(torch.ones(1, 2, device=x.device)), x.quantile(0.3, dim=0), x.cov(), x.inner(x), x.renorm(2, 0, 0.5),
                x.tensor_split(2, dim=1), x.matrix_exp(), x.sum_to_size(1, 4), x.histc(4, 0, 1), x.corrcoef())


def get_inputs():
    return [torch.rand([4, 4])]


def get_init_inputs():
    return []
