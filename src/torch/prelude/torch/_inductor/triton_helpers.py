# torch._inductor.triton_helpers: jit functions, compiled with the kernel that calls them.

tl = triton.language
libdevice = triton.language.extra.libdevice
math = triton.language.math


@triton.jit
def promote_to_tensor(x):
    return x + tl.zeros((1,), tl.int1)


@triton.jit
def maximum(a, b):
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def minimum(a, b):
    return tl.where((a < b) | (a != a), a, b)


@triton.jit
def max2(a, dim):
    return tl.reduce(a, dim, maximum)


@triton.jit
def min2(a, dim):
    return tl.reduce(a, dim, minimum)


@triton.jit
def _product(a, b):
    return a * b


@triton.jit
def prod(a, dim):
    return tl.reduce(a, dim, _product)


@triton.jit
def _either(a, b):
    return a | b


@triton.jit
def any(a, dim):
    return tl.reduce(a, dim, _either)


@triton.jit
def _larger(a, i, b, k):
    first = (a > b) | ((a == b) & (i < k))
    return tl.where(first, a, b), tl.where(first, i, k)


@triton.jit
def _smaller(a, i, b, k):
    first = (a < b) | ((a == b) & (i < k))
    return tl.where(first, a, b), tl.where(first, i, k)


@triton.jit
def max_with_index(value, index, dim):
    return tl.reduce((value, index), dim, _larger)


@triton.jit
def min_with_index(value, index, dim):
    return tl.reduce((value, index), dim, _smaller)


@triton.jit
def div_floor_integer(a, b):
    quotient = a // b
    down = tl.where(a % b != 0, quotient - 1, quotient)
    return tl.where((a < 0) != (b < 0), down, quotient)


@triton.jit
def remainder_integer(a, b):
    remainder = a % b
    return tl.where((remainder != 0) & ((remainder < 0) != (b < 0)), remainder + b, remainder)


@triton.jit
def _welford(mean_a, m2_a, weight_a, mean_b, m2_b, weight_b):
    delta = mean_b - mean_a
    weight = weight_a + weight_b
    share = tl.where(weight == 0.0, 0.0, weight_b / weight)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * weight_a * share, weight


@triton.jit
def welford(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, _welford)


@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    return _welford(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2)


@triton.jit
def welford_reduce(value, mean, m2, weight, first_iteration):
    if first_iteration:
        new_weight = tl.full(weight.shape, 1, weight.dtype)
        new_mean = value
        new_m2 = tl.zeros_like(m2)
    else:
        delta = value - mean
        new_weight = weight + 1
        new_mean = mean + delta / new_weight
        new_m2 = m2 + delta * (value - new_mean)
    return new_mean, new_m2, new_weight
