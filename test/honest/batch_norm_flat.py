# task: batch_norm
# style: flat index, channel by integer arithmetic
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def norm_act(x_ptr, y_ptr, m_ptr, v_ptr, g_ptr, b_ptr, C, HW, n, EPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    c = (i // HW) % C
    x = tl.load(x_ptr + i, mask=mask)
    m = tl.load(m_ptr + c, mask=mask)
    v = tl.load(v_ptr + c, mask=mask, other=1.0)
    g = tl.load(g_ptr + c, mask=mask)
    b = tl.load(b_ptr + c, mask=mask)
    y = (x - m) * tl.rsqrt(v.to(tl.float32) + EPS) * g + b
    y = tl.where(y > 0, y, 0.0)
    tl.store(y_ptr + i, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)
        self.eval()

    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        hw = x.size(2) * x.size(3)
        norm_act[(triton.cdiv(n, 256),)](
            x, y, self.bn.running_mean, self.bn.running_var, self.bn.weight, self.bn.bias, x.size(1), hw, n, EPS=1e-5, BLOCK=256
        )
        return y
