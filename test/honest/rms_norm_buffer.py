# task: rms_norm
# style: a buffer that is only read, a class with settings
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Settings:
    warps = 4
    rows = 2


@triton.jit
def rms_kernel(x, w, eps_ptr, y, rows, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    eps = tl.load(eps_ptr)
    c = tl.arange(0, BLOCK)
    for k in tl.static_range(ROWS):
        row = tl.program_id(0) * ROWS + k
        mask = (c < n) & (row < rows)
        v = tl.load(x + row * n + c, mask=mask, other=0.0).to(tl.float32)
        s = tl.rsqrt(tl.sum(v * v) / n + eps)
        tl.store(y + row * n + c, v * s * tl.load(w + c, mask=c < n, other=0.0), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, hidden: int, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))
        self.register_buffer("eps", torch.tensor([eps]), persistent=False)

    def forward(self, x):
        n = x.shape[-1]
        rows = x.numel() // n
        y = torch.empty_like(x)
        rms_kernel[(triton.cdiv(rows, Settings.rows),)](
            x, self.weight, self.eps, y, rows, n, ROWS=Settings.rows, BLOCK=triton.next_power_of_2(n), num_warps=Settings.warps
        )
        return y
