"""Loops: bounds, carried values, what may change. Each `# signature:` line is a case for comparing with real Triton."""
import math

import triton
import triton.language as tl
from triton.language.extra import libdevice

# signature: p=*i32, n=i32
# signature: p=*i32, n=i64
# signature: p=*i32, n=fp32
# signature: p=*i32, n=8
# signature: p=*i32, n=i1
@triton.jit
def simple(p, n):
    s = 0
    for i in range(n):
        s += 1
    tl.store(p, s)


# signature: p=*i32, n=i32
# signature: p=*i32, n=i64
# signature: p=*i32, n=u32
@triton.jit
def carries_index(p, n):
    s = 0
    for i in range(0, n, 2):
        s += i
    tl.store(p, s)


# signature: p=*i64, n=i64
@triton.jit
def index_is_wide(p, n):
    for i in range(n):
        tl.store(p + i, i)


# signature: p=*fp32, n=i32
@triton.jit
def becomes_float(p, n):
    s = 0
    for i in range(n):
        s = s + 0.5
    tl.store(p, s)


# signature: p=*fp32, n=i32
@triton.jit
def becomes_block(p, n):
    s = 0.0
    for i in range(n):
        s = s + tl.arange(0, 16)
    tl.store(p, tl.sum(s))


# signature: p=*fp32, n=i32, N=16
# signature: p=*fp16, n=i32, N=16
# signature: p=*bf16, n=i32, N=16
@triton.jit
def accumulates(p, n, N: tl.constexpr):
    acc = tl.zeros((N,), dtype=tl.float32)
    for i in range(n):
        acc += tl.load(p + i * N + tl.arange(0, N))
    tl.store(p + tl.arange(0, N), acc)


# signature: p=*fp16, n=i32, N=16
@triton.jit
def accumulates_narrow(p, n, N: tl.constexpr):
    acc = tl.zeros((N,), dtype=tl.float16)
    for i in range(n):
        acc += tl.load(p + i * N + tl.arange(0, N)) * 2.0
        acc = tl.maximum(acc, 0.0)
    tl.store(p + tl.arange(0, N), acc)


# signature: p=*i32, n=i32
@triton.jit
def downwards(p, n):
    for i in range(n, 0, -1):
        tl.store(p + i, i)


# signature: p=*i32, n=i32, s=i32
@triton.jit
def step_at_run_time(p, n, s):
    for i in range(0, n, s):
        tl.store(p + i, i)


# signature: p=*i32, N=4
@triton.jit
def unrolled(p, N: tl.constexpr):
    for i in tl.static_range(N):
        for j in tl.static_range(i, N, 2):
            x: tl.constexpr = i * j
            tl.store(p + x, i + j)


# signature: p=*i32, N=4
@triton.jit
def unrolled_plain(p, N: tl.constexpr):
    for i in tl.static_range(N):
        tl.store(p + i, tl.arange(0, 2 ** i).shape[0])


# signature: p=*i32, n=i32
@triton.jit
def static_range_of_tensor(p, n):
    for i in tl.static_range(n):
        tl.store(p + i, i)


# signature: p=*i32, n=i32
@triton.jit
def pipelined(p, n):
    for i in tl.range(0, n, num_stages=3, loop_unroll_factor=2):
        tl.store(p + i, i)


# signature: p=*i32, n=i32
@triton.jit
def pipelined_wrong(p, n):
    for i in tl.range(0, n, stages=3):
        tl.store(p + i, i)


# signature: p=*i32, n=i32
@triton.jit
def over_tuple(p, n):
    for i in (1, 2, 3):
        tl.store(p + i, i)


# signature: p=*i32, n=i32
@triton.jit
def over_other_call(p, n):
    for i in tl.arange(0, 4):
        tl.store(p + i, i)


# signature: p=*i32, n=i32
@triton.jit
def with_else(p, n):
    for i in range(n):
        tl.store(p + i, i)
    else:
        tl.store(p, 0)


# signature: p=*i32, n=i32
@triton.jit
def breaks(p, n):
    for i in range(n):
        if i > 3:
            break
        tl.store(p + i, i)


# signature: p=*i32, n=i32
@triton.jit
def continues(p, n):
    for i in range(n):
        if i > 3:
            continue
        tl.store(p + i, i)


# signature: p=*i32, n=i32
@triton.jit
def returns_inside(p, n):
    for i in range(n):
        if i > 3:
            return
        tl.store(p + i, i)


# signature: p=*i32, n=i32
@triton.jit
def while_counts(p, n):
    i = 0
    while i < n:
        tl.store(p + i, i)
        i += 1


# signature: p=*i32, n=i32
# signature: p=*i32, n=i1
@triton.jit
def while_scalar(p, n):
    while n:
        tl.store(p, 1)
        n = n - 1


# signature: p=*i32
@triton.jit
def while_true(p):
    while True:
        tl.store(p, 1)


# signature: p=*i32, n=i32
@triton.jit
def while_and(p, n):
    i = 0
    go = True
    while (i < n) and go:
        i += 1
        go = tl.load(p + i) > 0
    tl.store(p, i)


# signature: p=*i32, n=i32
@triton.jit
def while_changes_type(p, n):
    i = 0
    while i < n:
        i = i * 1.5
    tl.store(p, i)


# signature: p=*i32, n=i32, N=4
@triton.jit
def constexpr_carried(p, n, N: tl.constexpr):
    for i in range(n):
        N = N + 1
    tl.store(p, N)


# signature: p=*i32, n=i32
@triton.jit
def none_carried(p, n):
    x = None
    for i in range(n):
        x = i
    tl.store(p, 1)


# signature: p=*i32, n=i32
@triton.jit
def swaps(p, n):
    a = 0
    b = 1
    for i in range(n):
        a, b = b, a + b
    tl.store(p, a)


# signature: p=*fp32, n=i32
@triton.jit
def nested(p, n):
    total = 0.0
    for i in range(n):
        row = 0.0
        for j in range(i, n):
            v = tl.load(p + i * n + j)
            row += v
        if row > total:
            total = row
    tl.store(p, total)


# signature: p=*fp32, n=i32
@triton.jit
def pointer_carried(p, n):
    q = p
    for i in range(n):
        tl.store(q, 1.0)
        q += 4
    tl.store(q, 2.0)


# signature: p=*fp32, n=i32
@triton.jit
def tuple_carried(p, n):
    t = (0, 1.0)
    for i in range(n):
        t = (t[0] + 1, t[1] * 2)
    tl.store(p, t[0] + t[1])


# signature: p=*fp32, n=i32
@triton.jit
def float_bound(p, n):
    for i in range(n / 2):
        tl.store(p + i, 1.0)


# signature: p=*i32, n=i32
@triton.jit
def block_bound(p, n):
    for i in range(tl.arange(0, 4)):
        tl.store(p + i, 1)


# signature: p=*i32, n=i32
@triton.jit
def tuple_target(p, n):
    for i, j in range(n):
        tl.store(p, i)


# signature: p=*i32, n=i32
@triton.jit
def listed(p, n):
    xs = [i * 2 for i in (1, 2, 3)]
    tl.store(p, xs[0] + xs[2])
