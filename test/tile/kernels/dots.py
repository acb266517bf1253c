"""tl.dot: operands, sizes, results. Each `# signature:` line is a case for comparing with real Triton."""
import math

import triton
import triton.language as tl
from triton.language.extra import libdevice

# signature: p=*fp32, o=*fp32, M=16, N=16, K=16, T=tl.float16
# signature: p=*fp32, o=*fp32, M=16, N=16, K=16, T=tl.bfloat16
# signature: p=*fp32, o=*fp32, M=16, N=32, K=16, T=tl.float32
# signature: p=*fp32, o=*fp32, M=16, N=16, K=16, T=tl.float64
# signature: p=*fp32, o=*fp32, M=16, N=16, K=32, T=tl.int8
# signature: p=*fp32, o=*fp32, M=16, N=16, K=32, T=tl.uint8
# signature: p=*fp32, o=*fp32, M=16, N=16, K=16, T=tl.int32
# signature: p=*fp32, o=*fp32, M=16, N=16, K=16, T=tl.int8
# signature: p=*fp32, o=*fp32, M=16, N=16, K=8, T=tl.float16
# signature: p=*fp32, o=*fp32, M=1, N=1, K=16, T=tl.float16
# signature: p=*fp32, o=*fp32, M=16, N=16, K=32, T=tl.float8e5
# signature: p=*fp32, o=*fp32, M=16, N=16, K=32, T=tl.float8e4nv
@triton.jit
def operands(p, o, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, T: tl.constexpr):
    a = tl.load(p + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :]).to(T)
    b = tl.load(p + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :]).to(T)
    c = tl.dot(a, b)
    tl.store(o + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


# signature: o=*fp32, T=tl.float16
# signature: o=*fp32, T=tl.float32
@triton.jit
def options(o, T: tl.constexpr):
    i = tl.arange(0, 16)
    at = o + i[:, None] * 16 + i[None, :]
    a = tl.zeros((16, 16), T)
    c = tl.zeros((16, 16), tl.float32)
    tl.store(at, tl.dot(a, a, c))
    tl.store(at, tl.dot(a, a, acc=c, allow_tf32=False))
    tl.store(at, tl.dot(a, a, input_precision="ieee"))
    tl.store(at, tl.dot(a, a, input_precision="tf32x3", out_dtype=tl.float32))
    tl.store(at, tl.dot(a, tl.trans(a), allow_tf32=True))


# signature: o=*fp32, T=tl.float16, A=tl.float16, R=tl.float16
# signature: o=*fp32, T=tl.float16, A=tl.float16, R=tl.float32
# signature: o=*fp32, T=tl.float16, A=tl.float32, R=tl.float32
# signature: o=*fp32, T=tl.bfloat16, A=tl.float32, R=tl.bfloat16
# signature: o=*fp32, T=tl.bfloat16, A=tl.bfloat16, R=tl.float32
# signature: o=*fp32, T=tl.float32, A=tl.float16, R=tl.float16
# signature: o=*fp32, T=tl.int8, A=tl.int32, R=tl.int32
@triton.jit
def accumulators(o, T: tl.constexpr, A: tl.constexpr, R: tl.constexpr):
    i = tl.arange(0, 32)
    a = tl.zeros((32, 32), T)
    c = tl.zeros((32, 32), A)
    tl.store(o + i[:, None] * 32 + i[None, :], tl.dot(a, a, c, out_dtype=R))


# signature: o=*fp32
@triton.jit
def inner_differs(o):
    a = tl.zeros((16, 32), tl.float16)
    b = tl.zeros((16, 16), tl.float16)
    tl.store(o + tl.arange(0, 16), tl.sum(tl.dot(a, b), 1))


# signature: o=*fp32
@triton.jit
def types_differ(o):
    a = tl.zeros((16, 16), tl.float16)
    b = tl.zeros((16, 16), tl.float32)
    tl.store(o + tl.arange(0, 16), tl.sum(tl.dot(a, b), 1))


# signature: o=*fp32
@triton.jit
def ranks_differ(o):
    a = tl.zeros((16, 16), tl.float16)
    b = tl.zeros((2, 16, 16), tl.float16)
    tl.store(o + tl.arange(0, 16), tl.sum(tl.dot(a, b), 1))


# signature: o=*fp32
@triton.jit
def of_vectors(o):
    a = tl.zeros((16,), tl.float16)
    tl.store(o, tl.dot(a, a))


# signature: o=*fp32
@triton.jit
def batched(o):
    a = tl.zeros((4, 16, 16), tl.float16)
    c = tl.dot(a, a)
    tl.store(o + tl.arange(0, 4), tl.sum(tl.sum(c, 2), 1))


# signature: o=*fp32
@triton.jit
def batched_twice(o):
    a = tl.zeros((2, 2, 16, 16), tl.float16)
    c = tl.dot(a, a)
    tl.store(o + tl.arange(0, 2), tl.sum(tl.sum(tl.sum(c, 3), 2), 1))


# signature: o=*fp32
@triton.jit
def precision_unknown(o):
    a = tl.zeros((16, 16), tl.float32)
    tl.store(o + tl.arange(0, 16), tl.sum(tl.dot(a, a, input_precision="fp32"), 1))


# signature: o=*fp32
@triton.jit
def accumulator_shape(o):
    a = tl.zeros((16, 16), tl.float16)
    c = tl.zeros((16, 32), tl.float32)
    tl.store(o + tl.arange(0, 16), tl.sum(tl.dot(a, a, c), 1))


# signature: a=*fp16, b=*fp16, c=*fp16, M=i32, N=i32, K=i32, sa=i32, sb=i32, sc=i32, BM=64, BN=32, BK=16, ACT='relu'
# signature: a=*bf16, b=*bf16, c=*bf16, M=i32, N=i32, K=i32, sa=i32, sb=i32, sc=i32, BM=64, BN=32, BK=16, ACT=''
# signature: a=*fp32, b=*fp32, c=*fp32, M=i32, N=i32, K=i32, sa=i32, sb=1, sc=i64, BM=16, BN=16, BK=16, ACT='relu'
# signature: a=*i8, b=*i8, c=*i32, M=i32, N=i32, K=i32, sa=i32, sb=i32, sc=i32, BM=64, BN=32, BK=32, ACT=''
@triton.jit
def tiled(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACT: tl.constexpr):
    pid = tl.program_id(0)
    n_n = tl.cdiv(N, BN)
    row = pid // n_n
    col = pid % n_n
    rm = (row * BM + tl.arange(0, BM)) % M
    rn = (col * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    ap = a + rm[:, None] * sa + rk[None, :]
    bp = b + rk[:, None] * sb + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(ap, mask=rk[None, :] < K - k * BK, other=0.0)
        y = tl.load(bp, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        ap += BK
        bp += BK * sb
    if ACT == "relu":
        acc = tl.where(acc >= 0, acc, 0.01 * acc)
    rm = row * BM + tl.arange(0, BM)
    rn = col * BN + tl.arange(0, BN)
    tl.store(c + rm[:, None] * sc + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


# signature: o=*fp32
@triton.jit
def scaled(o):
    a = tl.zeros((32, 64), tl.uint8)
    b = tl.zeros((64, 32), tl.uint8)
    sa = tl.zeros((32, 2), tl.uint8)
    sb = tl.zeros((32, 2), tl.uint8)
    c = tl.dot_scaled(a, sa, "e5m2", b, sb, "e5m2")
    tl.store(o + tl.arange(0, 32), tl.sum(c, 1))


# signature: o=*fp32
@triton.jit
def scaled_wrong(o):
    a = tl.zeros((32, 64), tl.uint8)
    b = tl.zeros((64, 32), tl.uint8)
    sa = tl.zeros((32, 4), tl.uint8)
    sb = tl.zeros((32, 2), tl.uint8)
    c = tl.dot_scaled(a, sa, "e5m2", b, sb, "e5m2")
    tl.store(o + tl.arange(0, 32), tl.sum(c, 1))
