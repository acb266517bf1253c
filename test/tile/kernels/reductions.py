"""Reductions, scans, sorting. Each `# signature:` line is a case for comparing with real Triton."""
import math

import triton
import triton.language as tl
from triton.language.extra import libdevice

# signature: p=*fp32, o=*fp32, N=16
# signature: p=*fp16, o=*fp16, N=16
# signature: p=*bf16, o=*fp32, N=16
# signature: p=*i8, o=*i64, N=16
# signature: p=*u8, o=*i64, N=16
# signature: p=*i1, o=*i64, N=16
# signature: p=*i64, o=*i64, N=16
# signature: p=*fp64, o=*fp64, N=16
@triton.jit
def all_kinds(p, o, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i[:, None] * N + i[None, :])
    tl.store(o + i, tl.sum(x, axis=0))
    tl.store(o + i, tl.max(x, axis=1))
    tl.store(o + i, tl.min(x, -1))
    tl.store(o + i, x.sum(1))
    tl.store(o + i[:, None], tl.sum(x, 1, keep_dims=True))
    tl.store(o, tl.sum(x))
    tl.store(o, x.max())
    tl.store(o + i, tl.argmax(x, 1))
    tl.store(o + i, tl.argmin(x, axis=0, tie_break_left=False))
    v, k = tl.max(x, 1, return_indices=True)
    tl.store(o + i, v + k)


# signature: p=*fp16, o=*fp32, N=16
# signature: p=*i32, o=*fp32, N=16
@triton.jit
def sum_in_type(p, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o, tl.sum(tl.load(p + i), dtype=tl.float32))
    tl.store(o, tl.sum(tl.load(p + i), axis=0, dtype=tl.int64))


# signature: p=*fp32, N=16
@triton.jit
def axis_too_high(p, N: tl.constexpr):
    tl.store(p, tl.sum(tl.arange(0, N), axis=1))


# signature: p=*fp32, n=i32, N=16
@triton.jit
def axis_of_tensor(p, n, N: tl.constexpr):
    tl.store(p, tl.sum(tl.arange(0, N), axis=n))


# signature: p=*fp32, N=16
@triton.jit
def sum_of_scalar(p, N: tl.constexpr):
    tl.store(p, tl.sum(tl.load(p), axis=0))


# signature: p=*fp32, N=16
@triton.jit
def wrong_keyword(p, N: tl.constexpr):
    tl.store(p, tl.sum(tl.arange(0, N), axis=0, keepdim=True))


# signature: p=*fp32, N=16
@triton.jit
def argmax_without_axis(p, N: tl.constexpr):
    tl.store(p, tl.argmax(tl.arange(0, N)))


@triton.jit
def mul_combine(a, b):
    return a * b


@triton.jit
def pair_combine(s1, n1, s2, n2):
    return s1 + s2, n1 + n2


@triton.jit
def widening_combine(a, b):
    return a * 0.5 + b


@triton.jit
def one_of_two(s1, n1, s2, n2):
    return s1 + s2


# signature: p=*fp32, N=16
# signature: p=*fp16, N=16
# signature: p=*i32, N=16
@triton.jit
def own_combine(p, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i)
    tl.store(p, tl.reduce(x, 0, mul_combine))
    s, n = tl.reduce((x, i), 0, pair_combine)
    tl.store(p, s + n)
    tl.store(p + i, tl.associative_scan(x, 0, mul_combine))
    tl.store(p + i, tl.associative_scan(x, 0, mul_combine, reverse=True))
    y, m = tl.associative_scan((x, i), 0, pair_combine)
    tl.store(p + i, y + m)


# signature: p=*i32, N=16
# signature: p=*fp32, N=16
@triton.jit
def combine_changes_type(p, N: tl.constexpr):
    tl.store(p, tl.reduce(tl.load(p + tl.arange(0, N)), 0, widening_combine))


# signature: p=*fp32, N=16
@triton.jit
def combine_returns_one(p, N: tl.constexpr):
    x = tl.load(p + tl.arange(0, N))
    s, n = tl.reduce((x, x), 0, one_of_two)
    tl.store(p, s)


# signature: p=*fp32, o=*fp32, N=16
# signature: p=*bf16, o=*fp32, N=16
# signature: p=*i8, o=*i64, N=16
@triton.jit
def scans(p, o, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i)
    tl.store(o + i, tl.cumsum(x))
    tl.store(o + i, tl.cumsum(x, 0, reverse=True))
    tl.store(o + i, tl.cumprod(x, axis=0))
    tl.store(o + i, x.cumsum(0))


# signature: p=*fp32, o=*fp32, N=16
# signature: p=*fp16, o=*fp16, N=16
# signature: p=*i32, o=*i32, N=16
# signature: p=*bf16, o=*fp32, N=16
@triton.jit
def ordered(p, o, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i)
    tl.store(o + i, tl.sort(x))
    tl.store(o + i, tl.sort(x, descending=True))
    tl.store(o + tl.arange(0, 4), tl.topk(x, 4))
    tl.store(o + i, tl.flip(x, 0))


# signature: p=*fp32, N=16
@triton.jit
def sort_other_dim(p, N: tl.constexpr):
    x = tl.zeros((N, N), tl.float32)
    y = tl.sort(x, dim=0)
    tl.store(p + tl.arange(0, N), tl.sum(y, 0))


# signature: p=*fp32, N=16
@triton.jit
def flip_default(p, N: tl.constexpr):
    tl.store(p + tl.arange(0, N), tl.flip(tl.arange(0, N)))


# signature: p=*i32, N=16
# signature: p=*fp32, N=16
@triton.jit
def xors(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p, tl.xor_sum(tl.load(p + i), 0))
    tl.store(p, tl.reduce_or(tl.load(p + i), 0))


# signature: p=*fp32, o=*fp32, N=16
# signature: p=*fp16, o=*fp32, N=16
@triton.jit
def softmaxes(p, o, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i)
    tl.store(o + i, tl.softmax(x))
    tl.store(o + i, tl.softmax(x.to(tl.float32), dim=0, keep_dims=True))
    tl.store(o + i, tl.sigmoid(x))


@triton.jit
def choose(x, y):
    if x > y:
        z = x
    else:
        z = y
    return z


# signature: p=*fp32, N=16
@triton.jit
def mapped(p, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i)
    tl.store(p + i, tl.map_elementwise(choose, x, x * 2))
