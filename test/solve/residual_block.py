# A block as vision models write it: convolution, batch norm in training, activation, residual.
import torch
import torch.nn as nn


class ConvBlock(nn.Module):
    def __init__(self, c_in, c_out, **kwargs):
        super(ConvBlock, self).__init__()
        self.conv = nn.Conv2d(c_in, c_out, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(c_out)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class Model(nn.Module):
    def __init__(self, channels):
        super(Model, self).__init__()
        self.body = nn.Sequential(ConvBlock(channels, channels, kernel_size=3, padding=1),
                                  ConvBlock(channels, channels, kernel_size=1))

    def forward(self, x):
        return x + self.body(x)


def get_inputs():
    return [torch.rand([2, 8, 10, 10])]


def get_init_inputs():
    return [8]
