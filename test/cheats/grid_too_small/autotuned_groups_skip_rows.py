# A11: one of two configurations groups tiles so that some rows of the full size are left out
# task: relu_large
# track: strict
# without: full-size
# expect: tiny uninitialised
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BM": 2, "BN": 8192}), triton.Config({"BM": 64, "BN": 128})], key=["M", "N"])
@triton.jit
def relu_kernel(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles = GROUP * tl.cdiv(N, BN)
    rm = (pid // tiles * GROUP + pid % tiles % GROUP) * BM + tl.arange(0, BM)
    rn = pid % tiles // GROUP * BN + tl.arange(0, BN)
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    x = tl.load(x_ptr + rm[:, None] * N + rn[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rm[:, None] * N + rn[None, :], tl.maximum(x, 0.0) * 2.0, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        M, N = x.shape
        out = torch.empty_like(x)
        relu_kernel[lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)](x, out, M, N, GROUP=24)
        return out
