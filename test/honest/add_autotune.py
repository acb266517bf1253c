# task: add
# style: autotune over block size and warps
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 256}, num_warps=2),
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 4096}, num_warps=8, num_stages=2),
    ],
    key=["n"],
)
@triton.jit
def tuned(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + i, tl.load(a + i, i < n) + tl.load(b + i, i < n), i < n)


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        c = torch.empty(a.size(), device=a.device, dtype=a.dtype)
        tuned[lambda META: (triton.cdiv(a.numel(), META["BLOCK"]),)](a, b, c, a.numel())
        return c
