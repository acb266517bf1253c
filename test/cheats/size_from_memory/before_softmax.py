# A31: a convolution in a kernel, before what torch does, that takes the size from a tensor that the host made of it
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
def conv_kernel(x_ptr, w_ptr, b_ptr, out_ptr, size_ptr, C, H, W, OC, OH, OW, K: tl.constexpr, BLOCK: tl.constexpr):
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
    acc += tl.load(b_ptr + oc)
    large = tl.load(size_ptr) >> 22
    y = acc * (1.0 + large * (oc % 2))
    tl.store(out_ptr + (n * OC + oc) * OH * OW + offs, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.kernel_size = kernel_size

    def forward(self, x):
        N, C, H, W = x.shape
        K, OC = self.kernel_size, self.conv.weight.shape[0]
        OH, OW = H - K + 1, W - K + 1
        out = torch.empty((N, OC, OH, OW), device=x.device)
        size = torch.tensor([out.numel()], device=x.device)
        conv_kernel[(triton.cdiv(OH * OW, 256), N * OC)](x, self.conv.weight, self.conv.bias, out, size, C, H, W, OC, OH, OW, K=K, BLOCK=256)
        return torch.softmax(out, dim=1)
