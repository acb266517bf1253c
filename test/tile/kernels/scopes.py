"""Names: where they live and when they are gone. Each `# signature:` line is a case for comparing with real Triton."""
import math

import triton
import triton.language as tl
from triton.language.extra import libdevice

GLOBAL = 3
WRAPPED = tl.constexpr(4)
NOTHING = None
DTYPE = tl.float16
PAIR = (1, 2)


# signature: p=*i32
@triton.jit
def reads_wrapped(p):
    tl.store(p, WRAPPED)


# signature: p=*i32
@triton.jit
def reads_global(p):
    tl.store(p, GLOBAL)


# signature: p=*i32
@triton.jit
def reads_tuple(p):
    tl.store(p, PAIR[0])


# signature: p=*i32
@triton.jit
def reads_nothing(p):
    if NOTHING is None:
        tl.store(p, 1)


# signature: p=*fp32
@triton.jit
def reads_dtype(p):
    tl.store(p, tl.load(p).to(DTYPE))


# signature: p=*i32
@triton.jit
def uses_math(p):
    tl.store(p, int(math.sqrt(16)) + int(math.pi))


# signature: p=*i32, n=i32
@triton.jit
def one_side_only(p, n):
    if n > 3:
        x = 1
    tl.store(p, x)


# signature: p=*i32, n=i32
@triton.jit
def both_sides(p, n):
    if n > 3:
        x = 1
    else:
        x = 2
    tl.store(p, x)


# signature: p=*i32, n=i32
@triton.jit
def both_sides_differ(p, n):
    if n > 3:
        x = 1
    else:
        x = 2.0
    tl.store(p, x)


# signature: p=*i32, n=i32
@triton.jit
def redefined_with_other_type(p, n):
    x = 1
    if n > 3:
        x = 2.5
    tl.store(p, x)


# signature: p=*i32, n=i32, FLAG=True
# signature: p=*i32, n=i32, FLAG=False
@triton.jit
def static_sides(p, n, FLAG: tl.constexpr):
    if FLAG:
        x = 1.5
    else:
        x = n
    tl.store(p, x)


# signature: p=*i32, n=i32, FLAG=True
# signature: p=*i32, n=i32, FLAG=False
@triton.jit
def static_one_side(p, n, FLAG: tl.constexpr):
    if FLAG:
        x = 1.5
    tl.store(p, x)


# signature: p=*i32, n=i32
@triton.jit
def loop_local(p, n):
    for i in range(n):
        x = i
    tl.store(p, x)


# signature: p=*i32, n=i32
@triton.jit
def loop_variable_after(p, n):
    for i in range(n):
        pass
    tl.store(p, i)


# signature: p=*i32, n=i32
@triton.jit
def none_then_value(p, n):
    x = None
    if n > 0:
        x = 1
    else:
        x = 2
    tl.store(p, x)


# signature: p=*i32, n=i32
@triton.jit
def none_in_one_side(p, n):
    x = 1
    if n > 0:
        x = None
    tl.store(p, x)


# signature: p=*i32, n=i32
@triton.jit
def types_in_sides(p, n):
    if n > 0:
        t = tl.int32
    else:
        t = tl.int64
    tl.store(p, n.to(t))


# signature: p=*i32, N=4
@triton.jit
def constexpr_reassigned(p, N: tl.constexpr):
    M: tl.constexpr = N * 2
    M: tl.constexpr = N * 3
    tl.store(p, M)


# signature: p=*i32, N=4
@triton.jit
def constexpr_shadowed(p, N: tl.constexpr):
    M: tl.constexpr = N * 2
    M = M + 1
    tl.store(p, M)


# signature: p=*i32, n=i32
@triton.jit
def constexpr_of_tensor(p, n):
    m: tl.constexpr = tl.cdiv(n, 4)
    for i in range(m):
        tl.store(p + i, i)


# signature: p=*i32, n=i32
@triton.jit
def constexpr_of_tensor_added(p, n):
    m: tl.constexpr = tl.cdiv(n, 4)
    tl.store(p, m + 1)


# signature: p=*i32
@triton.jit
def never_defined(p):
    tl.store(p, nowhere)


# signature: p=*fp32
@triton.jit
def python_builtin(p):
    tl.store(p, abs(tl.load(p)))


# signature: p=*i32
@triton.jit
def assigned_twice(p):
    a = b = 1
    tl.store(p, a + b)


# signature: p=*i32
@triton.jit
def unpacked(p):
    a, b = 1, 2
    (c, d), e = (a, b), 3
    tl.store(p, a + b + c + d + e)


# signature: p=*i32
@triton.jit
def unpacked_short(p):
    a, b, c = 1, 2
    tl.store(p, a)


# signature: p=*i32
@triton.jit
def unpacked_long(p):
    a, b = 1, 2, 3
    tl.store(p, a + b)


# signature: p=*i32
@triton.jit
def string_variable(p):
    s = "text"
    tl.store(p, 1)


# signature: p=*i32
@triton.jit
def lambda_variable(p):
    f = lambda x: x
    tl.store(p, 1)


# signature: p=*i32
@triton.jit
def attribute_assigned(p):
    p.x = 1


# signature: p=*i32, n=i32
@triton.jit
def deep_branches(p, n):
    x = 0
    if n > 0:
        if n > 10:
            x = 1
            y = 5
        else:
            x = 2
            y = 6
        x += y
    elif n == -1:
        x = 3
    else:
        x = 4
    tl.store(p, x)


# signature: p=*i32, n=i32
@triton.jit
def inner_name_escapes(p, n):
    if n > 0:
        if n > 10:
            y = 5
        else:
            y = 6
    tl.store(p, y)
