# task: deep_net
# track: hybrid
# style: one step of a deep network in a kernel: the mean of each plane
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def mean_kernel(x_ptr, out_ptr, area, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, area, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + plane * area + offs, mask=offs < area, other=0.0)
    tl.store(out_ptr + plane, tl.sum(acc, axis=0) / area)


class ModelNew(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.layers = nn.ModuleList([
            nn.Sequential(nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, channels, 3, padding=1, bias=False))
            for _ in range(7)
        ])
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        N, C, H, W = x.shape
        mean = torch.empty((N, C), device=x.device, dtype=x.dtype)
        mean_kernel[(N * C,)](x.contiguous(), mean, H * W, BLOCK=256)
        return F.relu(self.fc(mean))
