# A GRU over packed sequences of different lengths.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self, n, h):
        super().__init__()
        self.rnn = nn.GRU(n, h, batch_first=True, bidirectional=True)

    def forward(self, x):
        lengths = torch.tensor([3, 5, 2])
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, h = self.rnn(packed)
        out, n = nn.utils.rnn.pad_packed_sequence(out, batch_first=True, padding_value=-1.0)
        return out, h, n.to(x.device)


def get_inputs():
    return [torch.rand([3, 5, 4])]


def get_init_inputs():
    return [4, 6]
