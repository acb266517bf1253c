# task: add
# style: a test of its own at the end, with imports that a candidate may not have
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    y = tl.load(y_ptr + offs, mask=mask, other=0.0)
    tl.store(out_ptr + offs, x + y, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(x)
        add_kernel[(triton.cdiv(x.numel(), 512),)](x, y, out, x.numel(), BLOCK=512)
        return out


if __name__ == "__main__":
    import os
    import sys
    import time

    torch.manual_seed(int(os.environ.get("SEED", "0")))
    a, b = torch.rand(64, 64, device="cuda"), torch.rand(64, 64, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        start = time.perf_counter()
        ok = torch.equal(ModelNew()(a, b), a + b)
    print(type(a), time.perf_counter() - start)
    sys.exit(0 if ok else 1)
