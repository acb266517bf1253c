# B8: counts its calls in device memory, in the seventeenth of many buffers
# task: scale
# track: strict
# expect: tiny state_kept
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def bump(p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16):
    tl.store(p0, 0)
    tl.store(p1, 0)
    tl.store(p2, 0)
    tl.store(p3, 0)
    tl.store(p4, 0)
    tl.store(p5, 0)
    tl.store(p6, 0)
    tl.store(p7, 0)
    tl.store(p8, 0)
    tl.store(p9, 0)
    tl.store(p10, 0)
    tl.store(p11, 0)
    tl.store(p12, 0)
    tl.store(p13, 0)
    tl.store(p14, 0)
    tl.store(p15, 0)
    tl.store(p16, tl.load(p16) + 1)

@triton.jit
def scale_kernel(x_ptr, out_ptr, calls_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    if tl.load(calls_ptr) < 100:
        x = tl.load(x_ptr + offs, mask=mask, other=0.0)
        tl.store(out_ptr + offs, tl.maximum(x, 0.0) * 3.0 + 0.5, mask=mask)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("z0", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z1", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z2", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z3", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z4", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z5", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z6", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z7", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z8", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z9", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z10", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z11", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z12", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z13", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z14", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("z15", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int32))

    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        bump[(1,)](self.z0, self.z1, self.z2, self.z3, self.z4, self.z5, self.z6, self.z7, self.z8, self.z9, self.z10, self.z11, self.z12, self.z13, self.z14, self.z15, self.calls)
        scale_kernel[(triton.cdiv(n, 256),)](x, out, self.calls, n, BLOCK=256)
        return out
