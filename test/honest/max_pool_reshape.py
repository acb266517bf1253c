# task: max_pool
# style: rows of the window in a tile, tl.reshape and tl.max
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def pool_rows(x, y, H, W, OH, OW, K: tl.constexpr, KK: tl.constexpr, BLOCK: tl.constexpr):
    nc = tl.program_id(0)
    oh = tl.program_id(1)
    ow = tl.arange(0, BLOCK)
    tap = tl.arange(0, KK)
    row = oh * K + tap // K
    col = ow[:, None] * K + (tap % K)[None, :]
    ok = (ow < OW)[:, None] & (tap < K * K)[None, :]
    v = tl.load(x + nc * H * W + row[None, :] * W + col, mask=ok, other=float("-inf"))
    tl.store(y + (nc * OH + oh) * OW + ow, tl.max(v, axis=1), mask=ow < OW)


class ModelNew(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x):
        N, C, H, W = x.shape
        OH, OW = H // self.k, W // self.k
        y = torch.empty(N, C, OH, OW, device=x.device, dtype=x.dtype)
        pool_rows[(N * C, OH)](x, y, H, W, OH, OW, K=self.k, KK=triton.next_power_of_2(self.k * self.k), BLOCK=triton.next_power_of_2(OW))
        return y
