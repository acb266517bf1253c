# task: rms_norm
# style: a tile of rows, autotuned number of warps, function outside the class
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"ROWS": r}, num_warps=w) for r in (1, 4) for w in (4, 8)], key=["M", "N"])
@triton.jit
def rms(X, W, O, M, N, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    mask = (r[:, None] < M) & (c[None, :] < N)
    x = tl.load(X + r[:, None] * N + c[None, :], mask=mask, other=0.0)
    scale = 1 / tl.sqrt(tl.sum(x * x, 1) / N + eps)
    w = tl.load(W + c, mask=c < N, other=0.0)
    tl.store(O + r[:, None] * N + c[None, :], x * scale[:, None] * w[None, :], mask=mask)


def rms_norm(x, weight, eps):
    N = x.shape[-1]
    M = x.numel() // N
    out = torch.empty_like(x)
    grid = lambda meta: (triton.cdiv(M, meta["ROWS"]),)
    rms[grid](x, weight, out, M, N, eps, BLOCK=triton.next_power_of_2(N))
    return out


class ModelNew(nn.Module):
    def __init__(self, hidden: int, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))
        self.eps = eps

    def forward(self, x):
        return rms_norm(x, self.weight, self.eps)
