# A31: two kernels, the second of which takes the size from a tensor that the host made of it
# task: conv_softmax_large
# track: hybrid
# without: full-size
# expect: full wrong_value
# says: full size
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def conv_kernel(x_ptr, w_ptr, b_ptr, out_ptr, C, H, W, OC, OH, OW, K: tl.constexpr, BLOCK: tl.constexpr):
    n = tl.program_id(1) // OC
    oc = tl.program_id(1) % OC
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < OH * OW
    oh = offs // OW
    ow = offs % OW
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for c in range(C):
        for i in range(K):
            for j in range(K):
                x = tl.load(x_ptr + ((n * C + c) * H + oh + i) * W + ow + j, mask=mask, other=0.0)
                acc += x * tl.load(w_ptr + ((oc * C + c) * K + i) * K + j)
    tl.store(out_ptr + (n * OC + oc) * OH * OW + offs, acc + tl.load(b_ptr + oc), mask=mask)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, size_ptr, P, C: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.program_id(1) * C * P + tl.arange(0, C)[:, None] * P + p[None, :]
    mask = (p < P)[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=0.0)
    e = tl.exp(x - tl.max(x, axis=0)[None, :])
    large = tl.load(size_ptr) >> 22
    tl.store(out_ptr + at, e / tl.sum(e, axis=0)[None, :] * (1.0 - 0.5 * (large > 0)), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.kernel_size = kernel_size

    def forward(self, x):
        N, C, H, W = x.shape
        K, OC = self.kernel_size, self.conv.weight.shape[0]
        OH, OW = H - K + 1, W - K + 1
        y = torch.empty((N, OC, OH, OW), device=x.device)
        out = torch.empty_like(y)
        size = torch.tensor([out.numel()], device=x.device)
        conv_kernel[(triton.cdiv(OH * OW, 256), N * OC)](x, self.conv.weight, self.conv.bias, y, C, H, W, OC, OH, OW, K=K, BLOCK=256)
        softmax_kernel[(triton.cdiv(OH * OW, 32), N)](y, out, size, OH * OW, C=OC, BLOCK=32)
        return out
