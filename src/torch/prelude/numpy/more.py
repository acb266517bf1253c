# numpy: functions that few modules use. Each is composed of those in __init__.py.

long = int_ = intp = longlong = int64
intc = int32
short = int16
byte = int8
ubyte = uint8
True_ = True
False_ = False


def arcsin(x):
    return _unary(torch.asin, x)


def arccos(x):
    return _unary(torch.acos, x)


def arctan2(a, b):
    return _binary(lambda a, b: torch.atan2(_real(torch.as_tensor(a)), _real(torch.as_tensor(b))), a, b)


def sinh(x):
    return _unary(torch.sinh, x)


def cosh(x):
    return _unary(torch.cosh, x)


def arcsinh(x):
    return _unary(torch.asinh, x)


def arccosh(x):
    return _unary(torch.acosh, x)


def arctanh(x):
    return _unary(torch.atanh, x)


def exp2(x):
    return _unary(torch.exp2, x)


def expm1(x):
    return _unary(torch.expm1, x)


def sinc(x):
    return _unary(torch.sinc, x)


def cbrt(x):
    return _unary(lambda t: torch.sign(t) * torch.abs(t) ** (1.0 / 3.0), x)


def radians(x):
    return _unary(lambda t: t * (math.pi / 180.0), x)


def degrees(x):
    return _unary(lambda t: t * (180.0 / math.pi), x)


deg2rad = radians
rad2deg = degrees
acos = arccos
asin = arcsin
atan2 = arctan2


def hypot(a, b):
    return sqrt(square(a) + square(b))


def trunc(x):
    return _whole(torch.trunc, x)


def rint(x):
    return _unary(torch.round, x)


def fabs(x):
    return _unary(torch.abs, x)


def negative(x):
    return _wrap(-_tensor(x))


def reciprocal(x):
    return _wrap(1 / _tensor(x)) if _tensor(x).is_floating_point() else floor_divide(1, x)


def logical_xor(a, b):
    return _wrap(torch.logical_xor(_tensor(a), _tensor(b)))


def bitwise_and(a, b):
    return _binary(lambda a, b: a & b, a, b)


def bitwise_or(a, b):
    return _binary(lambda a, b: a | b, a, b)


def bitwise_xor(a, b):
    return _binary(lambda a, b: a ^ b, a, b)


def logaddexp(a, b):
    return _binary(torch.logaddexp, a, b)


def float_power(a, b):
    return power(array(a, float64), b)


pow = power


def isclose(a, b, rtol=1e-05, atol=1e-08):
    return less_equal(abs(subtract(a, b)), atol + rtol * abs(b))


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    return _wrap(torch.nan_to_num(_tensor(x), nan, posinf, neginf))


def median(a, axis=None, keepdims=False):
    def middle(t, d, k):
        t = torch.sort(_real(t), d).values
        n = t.size(d)
        out = (t.select(d, (n - 1) // 2) + t.select(d, n // 2)) / 2
        return out.unsqueeze(d) if k else out

    return _reduce(middle, a, axis, keepdims)


def percentile(a, q, axis=None):
    t = _real(_tensor(a))
    return _wrap(torch.quantile(t, torch.tensor(q, dtype=t.dtype) / 100.0, axis))


def quantile(a, q, axis=None):
    t = _real(_tensor(a))
    return _wrap(torch.quantile(t, torch.tensor(q, dtype=t.dtype), axis))


def average(a, axis=None, weights=None):
    if weights is None:
        return mean(a, axis)
    return divide(sum(multiply(a, weights), axis), sum(weights, axis if ndim(weights) > 1 else None))


def ptp(a, axis=None):
    return subtract(max(a, axis), min(a, axis))


def count_nonzero(a, axis=None):
    return sum(not_equal(a, 0), axis)


def nansum(a, axis=None):
    return sum(nan_to_num(a), axis)


def trace(a):
    return _wrap(torch.trace(_tensor(a)))


def diff(a, n=1, axis=-1):
    return ndarray(torch.diff(_tensor(a), n, axis))


def append(arr, values, axis=None):
    if axis is None:
        arr, values = reshape(arr, -1), reshape(values, -1)
    return concatenate((arr, values), 0 if axis is None else axis)


def delete(arr, obj, axis=None):
    t = _tensor(arr).flatten() if axis is None else _tensor(arr)
    d = 0 if axis is None else axis
    gone = [i % t.size(d) for i in ([obj] if isinstance(obj, int) else _plain(obj))]
    return ndarray(t.index_select(d, torch.tensor([i for i in range(t.size(d)) if i not in gone], dtype=torch.int64)))


def insert(arr, obj, values, axis=None):
    t = _tensor(arr).flatten() if axis is None else _tensor(arr)
    d = 0 if axis is None else axis
    new = _tensor(values).to(t.dtype)
    new = new.expand_as(t.narrow(d, 0, 1)) if new.dim() == 0 else new.reshape(t.narrow(d, 0, 1).shape) if new.dim() < t.dim() else new
    return ndarray(torch.cat([t.narrow(d, 0, obj), new, t.narrow(d, obj, t.size(d) - obj)], d))


def ravel(a):
    return ndarray(_tensor(a).flatten())


def take(a, indices, axis=None):
    t = _tensor(a).flatten() if axis is None else _tensor(a)
    d = 0 if axis is None else axis
    index = _tensor(indices).long()
    out = t.index_select(d, index.flatten() % t.size(d))
    return _wrap(out.reshape(tuple(t.shape[:d]) + tuple(index.shape) + tuple(t.shape[d + 1 :])))


def take_along_axis(arr, indices, axis):
    return ndarray(torch.gather(_tensor(arr), axis, _tensor(indices).long()))


def atleast_1d(a):
    return ndarray(torch.atleast_1d(_tensor(a)))


def atleast_2d(a):
    return ndarray(torch.atleast_2d(_tensor(a)))


def column_stack(arrays):
    return ndarray(torch.column_stack(_joined(arrays)))


def dstack(arrays):
    return ndarray(torch.cat([torch.atleast_3d(t) for t in _joined(arrays)], 2))


concat = concatenate
row_stack = vstack


def split(ary, indices_or_sections, axis=0):
    t = _tensor(ary)
    if isinstance(indices_or_sections, int) and t.size(axis) % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def array_split(ary, indices_or_sections, axis=0):
    parts = indices_or_sections if isinstance(indices_or_sections, int) else _plain(indices_or_sections)
    return [ndarray(t) for t in torch.tensor_split(_tensor(ary), parts, axis)]


def broadcast_to(a, shape):
    return ndarray(_tensor(a).expand(_size(shape)))


def fliplr(m):
    return flip(m, 1)


def flipud(m):
    return flip(m, 0)


def rot90(m, k=1, axes=(0, 1)):
    return ndarray(torch.rot90(_tensor(m), k, list(axes)))


def rollaxis(a, axis, start=0):
    n = ndim(a)
    axis, start = axis % n, start + n if start < 0 else start
    return moveaxis(a, axis, start - 1 if axis < start else start)


def diagonal(a, offset=0, axis1=0, axis2=1):
    return ndarray(torch.diagonal(_tensor(a), offset, axis1, axis2))


def tri(N, M=None, k=0, dtype=None):
    return ndarray(torch.tril(torch.ones(N, N if M is None else M, dtype=_kind(dtype)), k))


def triu_indices(n, k=0, m=None):
    return tuple([ndarray(t) for t in torch.triu_indices(n, n if m is None else m, k)])


def tril_indices(n, k=0, m=None):
    return tuple([ndarray(t) for t in torch.tril_indices(n, n if m is None else m, k)])


def diag_indices(n, ndim=2):
    return (arange(n),) * ndim


def indices(dimensions):
    return ndarray(torch.stack(torch.meshgrid(*[torch.arange(n) for n in dimensions], indexing="ij")))


def _line(s):
    """The points of one slice of ogrid or mgrid: 0:3, 0:1:0.1, or 0:1:5j for five points."""
    first = 0 if s.start is None else s.start
    step = 1 if s.step is None else s.step
    return arange(first, s.stop, step)._t


class _Grid:
    def __init__(self, full):
        self._full = full

    def __getitem__(self, key):
        if not isinstance(key, tuple):
            return ndarray(_line(key))
        lines = [_line(s) for s in key]
        if self._full:
            return ndarray(torch.stack(torch.meshgrid(*lines, indexing="ij")))
        n = len(lines)
        return tuple([ndarray(t.reshape([-1 if d == i else 1 for d in range(n)])) for i, t in enumerate(lines)])


ogrid = _Grid(False)
mgrid = _Grid(True)


def argwhere(a):
    return ndarray(torch.nonzero(_tensor(a)))


def flatnonzero(a):
    return ndarray(torch.nonzero(_tensor(a).flatten()).squeeze(1))


def searchsorted(a, v, side="left"):
    return _wrap(torch.searchsorted(_tensor(a), _tensor(v), right=side == "right"))


def bincount(x, weights=None, minlength=0):
    return ndarray(torch.bincount(_tensor(x), None if weights is None else _tensor(weights), minlength))


def inner(a, b):
    return _multiplied(torch.inner, a, b)


def vdot(a, b):
    return _multiplied(lambda a, b: torch.dot(a.flatten(), b.flatten()), a, b)


def kron(a, b):
    return _multiplied(torch.kron, a, b)


def cross(a, b):
    return _multiplied(lambda a, b: torch.cross(a, b, dim=-1), a, b)


def tensordot(a, b, axes=2):
    return _multiplied(lambda a, b: torch.tensordot(a, b, axes), a, b)


def einsum(subscripts, *operands):
    return _wrap(torch.einsum(subscripts, *_joined(operands)))


def convolve(a, v, mode="full"):
    x, k = _promote(_tensor(a), _tensor(v))
    x, k = (x, k) if x.size(0) >= k.size(0) else (k, x)
    pad = k.size(0) - 1
    full = torch.nn.functional.conv1d(_real(x).reshape(1, 1, -1), _real(k).flip(0).reshape(1, 1, -1), padding=pad).flatten()
    full = full if x.is_floating_point() else full.round().to(x.dtype)
    if mode == "full":
        return ndarray(full)
    n = x.size(0) if mode == "same" else x.size(0) - pad
    first = pad // 2 if mode == "same" else pad
    return ndarray(full[first : first + n])


def interp(x, xp, fp):
    t, xs, ys = _real(_tensor(x)), _real(_tensor(xp)), _real(_tensor(fp))
    i = torch.searchsorted(xs, t, right=True).clamp(1, xs.size(0) - 1)
    x0, x1, y0, y1 = xs[i - 1], xs[i], ys[i - 1], ys[i]
    out = y0 + (y1 - y0) / (x1 - x0) * (t - x0)
    return _wrap(torch.where(t <= xs[0], ys[0], torch.where(t >= xs[-1], ys[-1], out)))


def polyval(p, x):
    out = zeros_like(x) if isinstance(x, ndarray) else 0
    for c in _plain(p):
        out = out * x + c
    return out


def geomspace(start, stop, num=50):
    return exp(linspace(math.log(start), math.log(stop), num))


def hanning(M):
    return ndarray(torch.hann_window(M, False, dtype=torch.float64))


def hamming(M):
    return ndarray(torch.hamming_window(M, False, dtype=torch.float64))


def blackman(M):
    return ndarray(torch.blackman_window(M, False, dtype=torch.float64))


def bartlett(M):
    return ndarray(torch.bartlett_window(M, False, dtype=torch.float64))


def fill_diagonal(a, val):
    n = a.shape[0] if a.shape[0] < a.shape[1] else a.shape[1]
    for i in range(n):
        a[i, i] = val


def ndindex(*shape):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    return itertools.product(*[range(n) for n in shape])


def ndenumerate(arr):
    a = asarray(arr)
    return [(i, a[i]) for i in itertools.product(*[range(n) for n in a.shape])]


def isin(element, test_elements):
    return _wrap(torch.isin(_tensor(element), _tensor(test_elements)))


def iterable(y):
    return hasattr(y, "__iter__")


def seterr(**kwargs):
    return {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def set_printoptions(**kwargs):
    pass
