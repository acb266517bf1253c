# task: deep_net
# track: hybrid
# style: the last linear layer of a deep network and its activation in a kernel
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def linear_kernel(x_ptr, w_ptr, b_ptr, out_ptr, K, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.program_id(1)
    k = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * K + k, mask=k < K, other=0.0)
    w = tl.load(w_ptr + col * K + k, mask=k < K, other=0.0)
    tl.store(out_ptr + row * N + col, tl.maximum(tl.sum(x * w, axis=0) + tl.load(b_ptr + col), 0.0))


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
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        N, K = x.shape
        out = torch.empty((N, self.fc.out_features), device=x.device, dtype=x.dtype)
        linear_kernel[(N, self.fc.out_features)](x, self.fc.weight, self.fc.bias, out, K, self.fc.out_features, BLOCK=triton.next_power_of_2(K))
        return out
