# A transformer encoder with its usual dropout, whose attention returns no weights: forward draws random numbers, so
# the judge takes evaluation mode.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width=32, heads=4, layers=2):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, heads, dim_feedforward=64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=layers)
        self.cross = nn.MultiheadAttention(width, heads, dropout=0.2, batch_first=True)

    def forward(self, x, context):
        x = self.encoder(x)
        y, _ = self.cross(x, context, context, need_weights=False)
        p = 0.3 if self.training else 0.0
        return x + y + nn.functional.scaled_dot_product_attention(x, context, context, dropout_p=p)


def get_inputs():
    return [torch.randn(2, 12, 32), torch.randn(2, 9, 32)]


def get_init_inputs():
    return []
