# task: max_pool
# style: static loops over the window
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def pool_kernel(x, y, H, W, OH, OW, n, K: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    ow, t = i % OW, i // OW
    oh, nc = t % OH, t // OH
    best = tl.full([BLOCK], float("-inf"), tl.float32)
    for a in tl.static_range(K):
        for b in tl.static_range(K):
            v = tl.load(x + nc * H * W + (oh * K + a) * W + ow * K + b, mask=mask, other=float("-inf"))
            best = tl.maximum(best, v)
    tl.store(y + i, best, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x):
        N, C, H, W = x.shape
        OH, OW = H // self.k, W // self.k
        y = torch.empty((N, C, OH, OW), dtype=x.dtype, device=x.device)
        pool_kernel[(triton.cdiv(y.numel(), 64),)](x, y, H, W, OH, OW, y.numel(), K=self.k, BLOCK=64)
        return y
