# task: spread
# style: what no input reaches is left as new_zeros made it
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scatter(x_ptr, w_ptr, y_ptr, channels, n_in, n_out, K: tl.constexpr, STRIDE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n_in
    x = tl.load(x_ptr + row * n_in + i, mask=mask, other=0.0)
    for k in tl.static_range(K):
        w = tl.load(w_ptr + row % channels * K + k)
        tl.store(y_ptr + row * n_out + i * STRIDE + k, x * w, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels, kernel_size, stride):
        super().__init__()
        self.conv = nn.ConvTranspose1d(channels, channels, kernel_size, stride=stride, groups=channels, bias=False)

    def forward(self, x):
        k, s = self.conv.kernel_size[0], self.conv.stride[0]
        b, c, n = x.shape
        assert k <= s
        y = x.new_zeros(b, c, (n - 1) * s + k)
        scatter[(b * c, triton.cdiv(n, 2048))](x, self.conv.weight, y, c, n, y.shape[2], K=k, STRIDE=s, BLOCK=2048)
        return y
