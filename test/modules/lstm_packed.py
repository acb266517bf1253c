# An LSTM over a packed batch that is sorted by length.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Model(nn.Module):

    def __init__(self, n, h):
        super().__init__()
        self.rnn = nn.LSTM(n, h, num_layers=2)

    def forward(self, x, state):
        packed = pack_padded_sequence(x, [6, 4, 1])
        out, (h, c) = self.rnn(packed, (state, state))
        return pad_packed_sequence(out, total_length=7)[0], h, c


def get_inputs():
    return [torch.rand([6, 3, 4]), torch.rand([2, 3, 5])]


def get_init_inputs():
    return [4, 5]
