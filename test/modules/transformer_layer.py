# A transformer encoder of two layers in eval mode.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self, e):
        super().__init__()
        layer = nn.TransformerEncoderLayer(e, 2, dim_feedforward=16, dropout=0.0, activation='gelu', batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, norm=nn.LayerNorm(e))

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1)).to(x.device)
        return self.encoder(x, mask=mask)


def get_inputs():
    return [torch.rand([2, 5, 8])]


def get_init_inputs():
    return [8]
