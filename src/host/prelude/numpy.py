# numpy, as far as scalars and shapes go; arrays are not here.

pi = math.pi
e = math.e
inf = math.inf
nan = math.nan
newaxis = None
float32 = float
float64 = float
int32 = int
int64 = int


def _each(fn, x):
    if isinstance(x, (list, tuple)):
        return [_each(fn, v) for v in x]
    return fn(x)


def sqrt(x):
    return _each(math.sqrt, x)


def exp(x):
    return _each(math.exp, x)


def log(x):
    return _each(math.log, x)


def log2(x):
    return _each(math.log2, x)


def log10(x):
    return _each(math.log10, x)


def sin(x):
    return _each(math.sin, x)


def cos(x):
    return _each(math.cos, x)


def tanh(x):
    return _each(math.tanh, x)


def floor(x):
    return _each(lambda v: float(math.floor(v)), x)


def ceil(x):
    return _each(lambda v: float(math.ceil(v)), x)


def round(x, decimals=0):
    return _each(lambda v: builtins_round(v, decimals), x)


def builtins_round(v, decimals):
    return float(f"{v:.{decimals}f}")


def abs(x):
    return _each(lambda v: -v if v < 0 else v, x)


def power(a, b):
    return a**b


def prod(x):
    return math.prod(x)


def sum(x):
    total = 0
    for v in x:
        total = total + v
    return total


def mean(x):
    return sum(x) / len(x)


def max(x):
    return sorted(x)[-1]


def min(x):
    return sorted(x)[0]


def cumsum(x):
    return list(itertools.accumulate(x))


def arange(start, stop=None, step=1):
    return list(range(start, stop, step)) if stop is not None else list(range(start))


def linspace(start, stop, num=50):
    return [start + (stop - start) * i / (num - 1) for i in range(num)] if num > 1 else [float(start)]


def isscalar(x):
    return isinstance(x, (int, float, str, bool))


def ceil_div(a, b):
    return -(-a // b)
