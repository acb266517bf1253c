"""Which type two operands compute in. Each `# signature:` line is a case for comparing with real Triton."""
import math

import triton
import triton.language as tl
from triton.language.extra import libdevice

# signature: a=*fp32, b=*fp16, o=*fp32, N=64
# signature: a=*fp16, b=*bf16, o=*fp32, N=64
# signature: a=*bf16, b=*i32, o=*fp32, N=64
# signature: a=*i8, b=*u8, o=*i32, N=64
# signature: a=*i32, b=*u32, o=*i64, N=64
# signature: a=*i64, b=*u32, o=*i64, N=64
# signature: a=*i1, b=*i32, o=*i32, N=64
# signature: a=*fp64, b=*fp32, o=*fp64, N=64
# signature: a=*fp8e5, b=*fp8e4nv, o=*fp16, N=64
@triton.jit
def add_mixed(a, b, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(a + i) + tl.load(b + i))


# signature: a=*i32, b=*u32, o=*fp32, N=64
# signature: a=*i32, b=*i16, o=*fp32, N=64
# signature: a=*fp16, b=*fp16, o=*fp32, N=64
# signature: a=*bf16, b=*fp16, o=*fp32, N=64
# signature: a=*i1, b=*i1, o=*fp32, N=64
@triton.jit
def divide(a, b, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(a + i) / tl.load(b + i))


# signature: a=*i32, b=*i64, o=*i64, N=64
# signature: a=*i32, b=*u32, o=*i64, N=64
# signature: a=*fp32, b=*i32, o=*i64, N=64
# signature: a=*u8, b=*u16, o=*i64, N=64
@triton.jit
def floor_divide(a, b, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(a + i) // tl.load(b + i))


# signature: a=*fp32, b=*fp32, o=*fp32, N=64
# signature: a=*fp16, b=*i32, o=*fp32, N=64
# signature: a=*u32, b=*i32, o=*fp32, N=64
@triton.jit
def remainder(a, b, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(a + i) % tl.load(b + i))


# signature: a=*fp16, o=*fp16, N=64
# signature: a=*bf16, o=*bf16, N=64
# signature: a=*i32, o=*i32, N=64
# signature: a=*u8, o=*u8, N=64
# signature: a=*i1, o=*i1, N=64
@triton.jit
def numbers(a, o, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    tl.store(o + i, x * 2)
    tl.store(o + i, 1 + x)
    tl.store(o + i, x * 2.5)
    tl.store(o + i, 1.0 / (x + 1))


# signature: a=*u8, o=*u8, N=64
# signature: a=*i8, o=*i8, N=64
# signature: a=*i16, o=*i16, N=64
@triton.jit
def big_number(a, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(a + i) + 300)


# signature: a=*u32, o=*u32, N=64
# signature: a=*i32, o=*u32, N=64
@triton.jit
def negative_number(a, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(a + i) + -1)


# signature: a=*fp16, N=64
# signature: a=*bf16, N=64
# signature: a=*fp64, N=64
@triton.jit
def kept_in_a_variable(a, N: tl.constexpr):
    i = tl.arange(0, N)
    two = 2.0
    x = tl.load(a + i)
    acc = x * 2.0
    for _ in range(3):
        acc = acc * 2.0
    tl.store(a + i, x * two + acc)


# signature: a=*fp16, o=*i1, N=64
# signature: a=*bf16, o=*i8, N=64
# signature: a=*u32, o=*i32, N=64
@triton.jit
def compared(a, o, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    tl.store(o + i, (x < 0.5) & (x >= 0) | (x != 3))


# signature: a=*fp16, o=*fp16, N=64
# signature: a=*bf16, o=*bf16, N=64
# signature: a=*i32, o=*i32, N=64
@triton.jit
def clipped(a, o, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    y = tl.maximum(x, 0)
    z = tl.minimum(y, 6.0)
    w = tl.where(x > 0, x, 0.0)
    v = tl.where(z > 1, z, w)
    tl.store(o + i, v)


# signature: a=*fp32, o=*fp32, N=64
# signature: a=*fp16, o=*fp16, N=64
# signature: a=*i32, o=*i32, N=64
@triton.jit
def clamped(a, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.clamp(tl.load(a + i), 0.0, 6.0))


# signature: a=*i32, o=*i32, s=i32, N=64
# signature: a=*u32, o=*i32, s=i32, N=64
# signature: a=*fp32, o=*i32, s=i32, N=64
# signature: a=*i8, o=*i32, s=i64, N=64
@triton.jit
def bits(a, o, s, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    y = (x >> s) ^ (x << 2) | ~x & 7
    tl.store(o + i, y)
    tl.store(o + i, 1 >> x)


# signature: a=*i32, b=*i32, s=i32, N=64
# signature: a=*fp32, b=*i32, s=fp32, N=64
# signature: a=*fp32, b=*fp32, s=i64, N=64
@triton.jit
def pointer_arithmetic(a, b, s, N: tl.constexpr):
    i = tl.arange(0, N)
    p = a + s + i
    q = p - 1
    tl.store(q, tl.load(1 + p))


# signature: a=*i32, b=*i32, N=64
@triton.jit
def pointers_added(a, b, N: tl.constexpr):
    tl.store(a + b, 1)


# signature: a=*i32, b=*i32, N=64
@triton.jit
def pointer_times_number(a, b, N: tl.constexpr):
    tl.store(a * 2, 1)


# signature: a=*fp32, N=64
# signature: a=*i32, N=64
# signature: a=*i1, N=64
@triton.jit
def unary(a, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    tl.store(a + i, -x)
    tl.store(a + i, not x)


# signature: a=*fp32, N=64
# signature: a=*i32, N=64
@triton.jit
def inverted(a, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(a + i, ~tl.load(a + i))


# signature: a=*fp32, s=fp32, n=i32
# signature: a=*fp16, s=fp32, n=i64
# signature: a=*fp16, s=fp64, n=u32
@triton.jit
def scalar_arguments(a, s, n):
    x = tl.load(a)
    tl.store(a, x * s + n)


# signature: a=*fp32, n=i32
# signature: a=*fp32, n=1
# signature: a=*fp32, n=i1
@triton.jit
def logic(a, n):
    c = n > 0 and n < 10 or n == 12
    d = (n > 0) and True
    e = False or n
    tl.store(a, tl.where(c & d, 1.0, 0.0))
    tl.store(a, e)


# signature: a=*fp32, n=i32
@triton.jit
def logic_on_ints(a, n):
    tl.store(a, n and 3)


# signature: a=*fp32
@triton.jit
def powers(a):
    x = tl.load(a)
    tl.store(a, x ** 2)


# signature: a=*fp32, N=16
@triton.jit
def matmul_operator(a, N: tl.constexpr):
    x = tl.zeros((N, N), tl.float32)
    tl.store(a + tl.arange(0, N), tl.sum(x @ x, 1))


# A dtype is no function, although public kernels call it (x.to(dtype) and tl.full are).
# signature: a=*fp32, n=i32
@triton.jit
def dtype_of_scalar(a, n):
    tl.store(a, tl.float32(n))


# signature: a=*fp32
@triton.jit
def dtype_of_constant(a):
    tl.store(a, tl.float32(-float("inf")))


# signature: a=*fp32
@triton.jit
def dtype_of_value(a):
    x = tl.load(a)
    tl.store(a, x.dtype(2))
