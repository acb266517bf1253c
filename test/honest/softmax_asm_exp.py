# task: softmax
# style: the exponential by inline assembly with declared registers
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def fast_exp(x):
    return tl.inline_asm_elementwise(
        """
        {
            .reg .f32 t;
            mul.f32 t, $1, 0f3FB8AA3B;  // x * log2(e)
            ex2.approx.ftz.f32 $0, t;
        }
        """, "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def softmax_kernel(X, Y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(X + row * cols + offs, mask=offs < cols, other=float("-inf"))
    e = fast_exp(x - tl.max(x, axis=0))
    tl.store(Y + row * cols + offs, e / tl.sum(e, axis=0), mask=offs < cols)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        softmax_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
