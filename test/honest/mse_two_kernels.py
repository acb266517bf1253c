# task: mse
# style: partial sums by program, one program adds them up
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def partials(a, b, part, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i, mask=i < n, other=0.0).to(tl.float32)
    y = tl.load(b + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(part + pid, tl.sum((x - y) * (x - y)))


@triton.jit
def finish(part, out, count, n, BLOCK: tl.constexpr):
    s = tl.zeros([BLOCK], tl.float32)
    for k in range(0, count, BLOCK):
        i = k + tl.arange(0, BLOCK)
        s += tl.load(part + i, mask=i < count, other=0.0)
    tl.store(out, tl.sum(s) / n)


class ModelNew(nn.Module):
    def forward(self, prediction, target):
        n = prediction.numel()
        count = triton.cdiv(n, 512)
        part = torch.empty(count, device=prediction.device, dtype=torch.float32)
        partials[(count,)](prediction, target, part, n, BLOCK=512)
        out = torch.empty((), device=prediction.device, dtype=prediction.dtype)
        finish[(1,)](part, out, count, n, BLOCK=64)
        return out
