# One, two and three dimensions, transposed, dilated, grouped, padded.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self, c):
        super().__init__()
        self.a = nn.Conv2d(c, 2 * c, (3, 1), padding=(p // 2 for p in (3, 1)), groups=2)
        self.b = nn.ConvTranspose2d(2 * c, c, 3, stride=2, padding=1, output_padding=1)
        self.c = nn.Conv2d(c, c, 3, padding='same', dilation=2, padding_mode='reflect')
        self.d = nn.Conv1d(c, c, 3, padding=1, padding_mode='circular')
        self.e = nn.Conv3d(c, 2, (1, 3, 3), padding=(0, 1, 1))

    def forward(self, x):
        y = self.c(self.b(self.a(x)))
        return y, self.d(y.flatten(2)), self.e(y.unsqueeze(2))


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return [4]
