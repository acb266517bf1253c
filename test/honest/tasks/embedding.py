import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.table = nn.Embedding(vocab, dim)

    def forward(self, ids):
        return self.table(ids)


batch = 6
length = 19
vocab = 50
dim = 40


def get_inputs():
    return [torch.randint(0, vocab, (batch, length))]


def get_init_inputs():
    return [vocab, dim]
