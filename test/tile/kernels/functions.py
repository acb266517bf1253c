"""Calls: helpers, returns, constants, builtins. Each `# signature:` line is a case for comparing with real Triton."""
import math

import triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def square(x):
    return x * x


@triton.jit
def both(x, y=2, *, z=3):
    return x + y


@triton.jit
def two(x, scale: tl.constexpr = 2.0):
    return x, x * scale


@triton.jit
def nothing(p):
    tl.store(p, 1)


@triton.jit
def early(x, n):
    if n > 3:
        return x
    return x * 2


@triton.jit
def early_types(x, n):
    if n > 3:
        return x
    return x * 2.5


@triton.jit
def by_flag(x, FLAG: tl.constexpr):
    if FLAG:
        return x
    else:
        return x.to(tl.float32) * 0.5


@triton.jit
def by_flag_fall_through(x, FLAG: tl.constexpr):
    if FLAG:
        return x
    return x.to(tl.float32) * 0.5


@triton.jit
def calls_itself(x, n):
    return calls_itself(x, n)


@triton.jit
def counts_down(x, N: tl.constexpr):
    if N == 0:
        return x
    else:
        return counts_down(x + 1, N - 1)


@triton.jit
def apply(f: tl.constexpr, x):
    return f(x)


@triton.jit
def variadic(*xs):
    return xs[0] + xs[1]


def plain_python(x):
    return x


# signature: p=*i32, n=i32
# signature: p=*fp16, n=i32
@triton.jit
def helpers(p, n):
    x = tl.load(p)
    tl.store(p, square(x) + square(n) + square(3) + both(x) + both(x, y=n))
    a, b = two(x)
    c, d = two(x, scale=3)
    tl.store(p, a + b + c + d)
    nothing(p)
    tl.store(p, early(x, n))
    tl.store(p, by_flag(x, True))
    tl.store(p, by_flag(x, False))
    tl.store(p, counts_down(x, 3))
    tl.store(p, apply(square, x))


# signature: p=*i32, n=i32
@triton.jit
def too_many(p, n):
    tl.store(p, square(n, n))


# signature: p=*i32, n=i32
@triton.jit
def too_few(p, n):
    tl.store(p, square())


# signature: p=*i32, n=i32
@triton.jit
def unknown_parameter(p, n):
    tl.store(p, square(n, z=3))


# signature: p=*i32, n=i32
# signature: p=*fp32, n=i32
@triton.jit
def return_types(p, n):
    tl.store(p, early_types(tl.load(p), n))


# signature: p=*i32, n=i32, FLAG=True
# signature: p=*fp32, n=i32, FLAG=False
@triton.jit
def falls_through(p, n, FLAG: tl.constexpr):
    tl.store(p, by_flag_fall_through(tl.load(p), FLAG))


# signature: p=*i32, n=i32
@triton.jit
def recursion(p, n):
    tl.store(p, calls_itself(n, n))


# signature: p=*i32, n=i32
@triton.jit
def python_function(p, n):
    tl.store(p, plain_python(n))


# signature: p=*i32, n=i32
@triton.jit
def unpacks_nothing(p, n):
    x = nothing(p)
    tl.store(p, x)


# signature: p=*i32, n=i32
@triton.jit
def takes_two_of_one(p, n):
    a, b = square(n)
    tl.store(p, a)


# signature: p=*i32, n=i32
@triton.jit
def starred(p, n):
    args = (n, 2)
    tl.store(p, both(*args))


# signature: p=*i32, n=i32
@triton.jit
def error_inside(p, n):
    tl.store(p, helper_with_error(n))


@triton.jit
def helper_with_error(n):
    x = n + 1
    return tl.exp(x)


# signature: p=*i32, n=i32
@triton.jit
def returns_early(p, n):
    if n > 3:
        return
    x = 1
    if n == 2:
        x = 5
        return
    tl.store(p, x)


# signature: p=*i32, n=i32
@triton.jit
def returns_value_in_kernel(p, n):
    tl.store(p, n)
    return


# signature: p=*i32, n=i32
@triton.jit
def dead_code(p, n):
    tl.store(p, n)
    return
    tl.tanh(n)


# signature: p=*i32, n=i32, FLAG=False
# signature: p=*i32, n=i32, FLAG=True
@triton.jit
def dead_branch(p, n, FLAG: tl.constexpr):
    if FLAG:
        tl.nowhere(n)
    tl.store(p, n)


# signature: p=*i32, n=i32
@triton.jit
def nested_function(p, n):
    def f(n):
        return n
    tl.store(p, f(n))


# signature: p=*i32, N=16, S='abc', T=tl.float32, X=None, B=True, F=2.5
# signature: p=*i32, N=7, S='', T=tl.int32, X=3, B=False, F=-1.0
@triton.jit
def constants(p, N: tl.constexpr, S: tl.constexpr, T: tl.constexpr, X: tl.constexpr, B: tl.constexpr, F: tl.constexpr):
    a: tl.constexpr = N // 2 + N % 3 - (-N) // 4 + 2 ** 3
    b: tl.constexpr = len(S) if S == "abc" else 3
    c: tl.constexpr = 1 if X is None else X
    d: tl.constexpr = (N > 3 and B) or not B
    e: tl.constexpr = int(F * 4) + (N << 1) + (N >> 1) + (N & 3 | 4 ^ 1)
    f: tl.constexpr = min(N, 12) + max(3, b)
    g: tl.constexpr = T.is_floating() and T.primitive_bitwidth == 32
    tl.store(p, a + b + c + e + f)
    if d and g:
        tl.store(p, 1)
    tl.store(p, tl.constexpr(5) + triton.cdiv(N, 4) + triton.next_power_of_2(N))


# signature: p=*i32, F=0.5
# signature: p=*i32, F='x'
# signature: p=*i32, F=None
# signature: p=*i32, F=0
@triton.jit
def condition_kinds(p, F: tl.constexpr):
    if F:
        tl.store(p, 1)


# signature: p=*i32, N=16
@triton.jit
def block_condition(p, N: tl.constexpr):
    i = tl.arange(0, N)
    if i > 3:
        tl.store(p + i, i)


# signature: p=*i32, N=1
# signature: p=*i32, N=2
@triton.jit
def small_block_condition(p, N: tl.constexpr):
    i = tl.arange(0, N)
    if i == 0:
        tl.store(p + i, i)


# signature: p=*i32, n=i32
@triton.jit
def ternaries(p, n):
    x = 1 if n > 3 else 2
    y = n if n > 3 else 0
    tl.store(p, x + y)


# signature: p=*i32, n=i32
@triton.jit
def ternary_types(p, n):
    tl.store(p, 1 if n > 3 else 2.0)


# signature: p=*i32, n=i32
@triton.jit
def chained(p, n):
    tl.store(p, 0 < n < 3)


# signature: p=*i32, n=i32
@triton.jit
def contained(p, n):
    tl.store(p, n in (1, 2))


# signature: p=*i32, n=i32
@triton.jit
def identity(p, n):
    if n is not None:
        tl.store(p, n)
    if p is None:
        tl.store(p, 2)


# signature: p=*i32, n=None
# signature: p=*i32, n=i32
@triton.jit
def optional(p, n):
    if n is not None:
        tl.store(p, n)


# signature: p=*i32, n=i32
@triton.jit
def extremes(p, n):
    tl.store(p, min(n, 4) + max(n, 3, 2))


# signature: p=*fp32, n=i32
@triton.jit
def python_float(p, n):
    tl.store(p, float("-inf"))
    tl.store(p, float(n))


# signature: p=*i32, n=i32
@triton.jit
def isinstances(p, n):
    if isinstance(n, tl.tensor):
        tl.store(p, 1)
    tl.static_assert(not isinstance(3, tl.tensor))
    tl.static_assert(isinstance(tl.float32, tl.dtype))


# signature: p=*i32
@triton.jit
def divides_by_zero(p):
    tl.store(p, 1 // 0)


# signature: p=*i32, N=3
@triton.jit
def adds_text(p, N: tl.constexpr):
    tl.store(p, N + "a")


# signature: p=*i32
@triton.jit
def negates_tuple(p):
    tl.store(p, -(1, 2))


# signature: p=*i32
@triton.jit
def tuples(p):
    t = (1, 2.0, tl.arange(0, 4))
    u = t + (5,)
    tl.store(p, t[0] + u[3] + len(u))
    tl.store(p + tl.arange(0, 4), u[2])
    v = t[1:]
    tl.store(p, v[0])


# signature: p=*i32
@triton.jit
def tuple_index_high(p):
    t = (1, 2)
    tl.store(p, t[2])


# signature: p=*i32, n=i32
@triton.jit
def swizzles(p, n):
    i, j = tl.swizzle2d(n, n, 8, 8, 4)
    tl.store(p, i + j)


# signature: p=*fp32, seed=i32, N=16
# signature: p=*fp32, seed=i64, N=16
# signature: p=*fp32, seed=7, N=16
# signature: p=*fp32, seed=fp32, N=16
@triton.jit
def randoms(p, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, tl.rand(seed, i))
    tl.store(p + i, tl.randn(seed, i))
    tl.store(p + i, tl.randint(seed, i))
    a, b, c, d = tl.rand4x(seed, i)
    e, f, g, h = tl.randint4x(seed, i.to(tl.int64))
    tl.store(p + i, a + b + c + d + e + f + g + h)
    tl.store(p + i, tl.rand(seed, i, n_rounds=4))


# signature: p=*fp32
# signature: p=*fp16
# signature: p=*fp64
# signature: p=*i32
@triton.jit
def math_functions(p):
    x = tl.load(p)
    tl.store(p, tl.abs(x))
    y = tl.exp(x) + tl.log(x) + tl.sqrt(x) + tl.rsqrt(x) + tl.sin(x) + tl.cos(x) + tl.exp2(x) + tl.log2(x)
    z = tl.floor(y) + tl.ceil(y) + tl.erf(y) + tl.math.exp(y) + tl.math.fma(y, y, y) + tl.fdiv(y, y)
    tl.store(p, z)


# signature: p=*fp32
# signature: p=*fp16
# signature: p=*fp64
@triton.jit
def math_methods(p):
    x = tl.load(p)
    tl.store(p, x.exp() + x.log() + x.sqrt().abs() + x.sigmoid())


# signature: p=*fp32
# signature: p=*fp64
@triton.jit
def precise(p):
    x = tl.load(p)
    tl.store(p, tl.sqrt_rn(x) + tl.div_rn(x, 3.0))


# signature: p=*i32
# signature: p=*u32
# signature: p=*i16
# signature: p=*fp32
@triton.jit
def high_product(p):
    x = tl.load(p)
    tl.store(p, tl.umulhi(x, x))


# signature: p=*fp32
# signature: p=*fp64
# signature: p=*fp16
# signature: p=*i32
@triton.jit
def device_library(p):
    x = tl.load(p)
    tl.store(p, libdevice.tanh(x) + libdevice.pow(x, x))
    tl.store(p, tl.extra.cuda.libdevice.log1p(x))
    tl.store(p, libdevice.isnan(x))


# signature: p=*i32
# signature: p=*i64
# signature: p=*fp32
@triton.jit
def device_library_ints(p):
    tl.store(p, libdevice.popc(tl.load(p)) + libdevice.clz(tl.load(p)))


# signature: p=*fp32
@triton.jit
def device_library_mixed(p):
    tl.store(p, libdevice.pow(tl.load(p), 2))


# signature: p=*fp32
@triton.jit
def device_library_number(p):
    tl.store(p, libdevice.pow(tl.load(p + tl.arange(0, 4)), 2.0) + 0)


# signature: p=*fp32
@triton.jit
def device_library_unknown(p):
    tl.store(p, libdevice.relu(tl.load(p)))


# signature: p=*fp32
@triton.jit
def old_math(p):
    tl.store(p, tl.math.tanh(tl.load(p)))


# signature: p=*fp32
@triton.jit
def old_libdevice(p):
    tl.store(p, tl.libdevice.tanh(tl.load(p)))


# signature: p=*fp32
@triton.jit
def pi(p):
    tl.store(p, tl.pi)


# signature: p=*fp32
@triton.jit
def raises(p):
    raise ValueError("no")


# signature: p=*fp32
@triton.jit
def tries(p):
    try:
        tl.store(p, 1.0)
    except Exception:
        pass


# signature: p=*fp32
@triton.jit
def imports(p):
    import math
    tl.store(p, math.pi)


# signature: p=*fp32
@triton.jit
def deletes(p):
    x = 1
    del x


# signature: p=*fp32
@triton.jit
def dictionary(p):
    d = {"a": 1}
    tl.store(p, d["a"])


# signature: p=*fp32
@triton.jit
def walrus(p):
    if (x := tl.load(p)) > 0:
        tl.store(p, x)


# signature: p=*fp32
@triton.jit
def generator(p):
    tl.store(p, sum(x for x in (1, 2)))


# signature: p=*fp32
@triton.jit
def uses_global(p):
    global counter
    tl.store(p, 1.0)


# signature: p=*fp32
@triton.jit
def with_statement(p):
    with open("x"):
        tl.store(p, 1.0)
