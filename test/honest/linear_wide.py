# task: linear_wide
# style: a weight so large that the judge makes it of a part, before one whose rows are an independent axis
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def linear_elu_mish_kernel(x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BM + tl.arange(0, BM)
    offs_n = pid_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        offs_k = k + tl.arange(0, BK)
        a = tl.load(x_ptr + offs_m[:, None] * K + offs_k[None, :], mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0)
        b = tl.load(w_ptr + offs_n[None, :] * K + offs_k[:, None], mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0)
        acc += tl.dot(a, b, input_precision="tf32x3")
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    at = offs_m[:, None] * N + offs_n[None, :]
    acc += tl.load(b_ptr + offs_n, mask=offs_n < N, other=0.0)[None, :]
    acc = tl.where(acc > 0.0, acc, tl.exp(acc) - 1.0)
    sp = tl.where(acc > 20.0, acc, tl.log(1.0 + tl.exp(tl.minimum(acc, 20.0))))
    acc = acc * (2.0 * tl.sigmoid(2.0 * sp) - 1.0)
    tl.store(out_ptr + at, acc, mask=mask)

@triton.jit
def linear_nobias_relu6_mul_const_kernel(x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, alpha, HAS_BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BM + tl.arange(0, BM)
    offs_n = pid_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        offs_k = k + tl.arange(0, BK)
        a = tl.load(x_ptr + offs_m[:, None] * K + offs_k[None, :], mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0)
        b = tl.load(w_ptr + offs_n[None, :] * K + offs_k[:, None], mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0)
        acc += tl.dot(a, b, input_precision="tf32x3")
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    at = offs_m[:, None] * N + offs_n[None, :]
    if HAS_BIAS:
        acc += tl.load(b_ptr + offs_n, mask=offs_n < N, other=0.0)[None, :]
    acc = tl.minimum(tl.maximum(acc, 0.0), 6.0)
    acc = acc * 3.0
    acc = tl.minimum(acc, alpha)
    tl.store(out_ptr + at, acc, mask=mask)

class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, hidden_size2, factor, bias=False):
        super(ModelNew, self).__init__()
        self.linear = nn.Linear(input_size, hidden_size)
        self.linear2 = nn.Linear(hidden_size, hidden_size2, bias=bias)
        self.relu6 = nn.ReLU6()
        self.factor = factor

    def forward(self, x):
        h1 = torch.empty((x.shape[0], self.linear.out_features), device=x.device, dtype=x.dtype)
        grid = (triton.cdiv(x.shape[0], 128), triton.cdiv(self.linear.out_features, 128))
        linear_elu_mish_kernel[grid](x, self.linear.weight, self.linear.bias, h1, x.shape[0], self.linear.out_features, x.shape[1], BM=128, BN=128, BK=32, num_warps=8)
        out = torch.empty((h1.shape[0], self.linear2.out_features), device=h1.device, dtype=h1.dtype)
        grid = (triton.cdiv(h1.shape[0], 128), triton.cdiv(self.linear2.out_features, 128))
        linear_nobias_relu6_mul_const_kernel[grid](h1, self.linear2.weight, self.linear2.weight if self.linear2.bias is None else self.linear2.bias, out, h1.shape[0], self.linear2.out_features, h1.shape[1], self.factor, HAS_BIAS=self.linear2.bias is not None, BM=128, BN=128, BK=32, num_warps=8)
        return out
