# numpy, as far as modules use it: constants, shapes, tables built in a constructor. An array holds
# a tensor. A result without dimensions is a number with a few methods of arrays; float64, int64 and
# bool scalars behave as in numpy, of other types only the value is kept. There is no file access.

__version__ = "2.3.5"
pi = math.pi
e = math.e
inf = math.inf
nan = math.nan
newaxis = None


class dtype:
    def __init__(self, name):
        self.name = name.name if isinstance(name, dtype) else _names.get(name)
        if self.name is None:
            raise NotImplementedError(f"numpy.dtype({name})")
        self.torch = getattr(torch, self.name)

    def __call__(self, x=0):
        return array(x, self) if isinstance(x, (ndarray, list, tuple, torch.Tensor)) else _scalar_of(x, self.torch)

    def __eq__(self, other):
        return other is not None and self.name == dtype(other).name

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"dtype('{self.name}')"

    def __str__(self):
        return self.name

    @property
    def kind(self):
        return "b" if self.name == "bool" else "u" if self.name[0] == "u" else self.name[0]

    @property
    def itemsize(self):
        return self.torch.itemsize


class _Class(dtype):
    """numpy.float32 is a class that also stands for its dtype."""

    def __repr__(self):
        torch.library._only_printed("the text of a class of numpy")
        return f"<class 'numpy.{self.name}'>"

    def __str__(self):
        return repr(self)


_names = {"float16": "float16", "float32": "float32", "float64": "float64", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64",
          "uint8": "uint8", "bool": "bool", "half": "float16", "single": "float32", "double": "float64", "float": "float64", "int": "int64",
          "f2": "float16", "f4": "float32", "f8": "float64", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8",
          float: "float64", int: "int64", bool: "bool", None: "float64"}
float16 = half = _Class("float16")
float32 = single = _Class("float32")
float64 = double = _Class("float64")
int8 = _Class("int8")
int16 = _Class("int16")
int32 = _Class("int32")
int64 = _Class("int64")
uint8 = _Class("uint8")
bool_ = _Class("bool")


def _floats(x):
    return any_of(_floats, x) if isinstance(x, (list, tuple)) else isinstance(x, float)


def any_of(test, items):
    for x in items:
        if test(x):
            return True
    return False


def _plain(x):
    if isinstance(x, (ndarray, torch.Tensor)):
        return x.tolist()
    return [_inner(v) for v in x] if isinstance(x, (list, tuple, range)) else x


def _inner(x):
    """An item of a list. An item that is no plain Python number would decide the dtype of the array."""
    if isinstance(x, (ndarray, torch.Tensor)):
        if isinstance(x, torch.Tensor) or not numpy._is_wide(x._t):
            raise NotImplementedError("an array of arrays that are neither float64 nor int64")
    elif isinstance(x, _Scalar) and not numpy._is_wide(x):
        raise NotImplementedError("an array of numbers of numpy that are neither float64 nor int64")
    return _plain(x)


def _tensor(x, kind=None):
    """Anything that numpy accepts as an array, as a tensor; copied only if needed."""
    if isinstance(x, ndarray):
        t = x._t
    elif isinstance(x, torch.Tensor):
        t = x.detach()
    elif isinstance(x, _Scalar) and not numpy._is_wide(x):
        raise NotImplementedError("a number of numpy that is neither float64 nor int64")
    else:
        x = _plain(x)
        t = torch.tensor(x, dtype=torch.float64) if _floats(x) or (isinstance(x, list) and not x) else torch.tensor(x)
    return t if kind is None else t.to(dtype(kind).torch)


class _Scalar:
    shape = ()
    ndim = 0
    size = 1

    @property
    def dtype(self):
        if not numpy._is_wide(self):
            raise NotImplementedError("the dtype of a number of numpy that is neither float64 nor int64")
        return dtype(float if isinstance(self, float) else int)

    def item(self):
        return float(self) if isinstance(self, float) else int(self)

    def tolist(self):
        return self.item()

    def copy(self):
        return self

    def astype(self, kind):
        return dtype(kind)(self)

    def round(self, decimals=0):
        return round(self, decimals)

    def clip(self, low=None, high=None):
        return clip(self, low, high)

    # Methods that Python's numbers have and numpy's lack or define differently.
    def _other(self, *args):
        raise NotImplementedError("a method of a number of numpy")

    bit_length = bit_count = to_bytes = conjugate = is_integer = as_integer_ratio = hex = _other
    real = imag = numerator = denominator = property(_other)


class _Float(_Scalar, float):
    pass


class _Int(_Scalar, int):
    pass


def _number(t):
    x = t.item()
    return numpy._scalar(_Int, _Float, x, numpy._is_wide(t))


def _scalar_of(x, kind):
    if isinstance(x, str) or (not kind.is_floating_point and kind != torch.bool and isinstance(x, int) and not -(2**31) <= x < 2**31 and kind != torch.int64):
        raise NotImplementedError("such a number of numpy")
    if not kind.is_floating_point and kind != torch.bool and not (torch.iinfo(kind).min <= x <= torch.iinfo(kind).max):
        raise NotImplementedError("a number of numpy outside of its type")
    return _number(torch.tensor(x, dtype=kind))


def _wrap(t):
    return ndarray(t) if t.dim() else _number(t)


# --- arithmetic of numbers. A function of Python numbers computes with numbers, not with tensors: sizes and grids
# are computed this way, also where tensors have no contents.


def _is_number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool) and numpy._is_wide(x)


def _wide(x):
    """A Python number as numpy gives it; None if numpy would wrap around."""
    return None if isinstance(x, int) and not -(2**63) <= x < 2**63 else numpy._scalar(_Int, _Float, x, True)


def _items(x):
    """The numbers of a sequence if numpy adds and multiplies them one after the other; None otherwise."""
    if not isinstance(x, (list, tuple, range)) or not len(x):
        return None
    for v in x:
        if not _is_number(v) or (isinstance(v, float) and len(x) >= 8):
            return None
    return x


def _operand(x):
    """A Python number is weak in promotion; a numpy scalar promotes like an array."""
    return x if isinstance(x, (int, float)) and not isinstance(x, _Scalar) else _tensor(x)


def _real(t):
    return t if t.is_floating_point() else t.double()


def _mixed(f, i):
    """numpy's common dtype of a float and an integer array: wide enough for both."""
    size = 0 if i == torch.bool else i.itemsize
    if size >= 4 or f == torch.float64:
        return torch.float64
    return torch.float32 if size == 2 or f == torch.float32 else f


def _promote(a, b):
    """Two operands as tensors, or as a tensor and a number, of numpy's common dtype."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        a = torch.tensor(a, dtype=torch.float64 if isinstance(a, float) or isinstance(b, float) else None)
    if isinstance(a, (int, float)):
        b, a = _promote(b, a)
        return a, b
    if isinstance(b, float):
        return _real(a), b
    if isinstance(b, int):
        return (a.long() if a.dtype == torch.bool and not isinstance(b, bool) else a), b
    if a.is_floating_point() != b.is_floating_point():
        kind = _mixed(a.dtype, b.dtype) if a.is_floating_point() else _mixed(b.dtype, a.dtype)
        return a.to(kind), b.to(kind)
    kind = torch.promote_types(a.dtype, b.dtype)
    return a.to(kind), b.to(kind)


def _binary(fn, a, b):
    if _is_number(a) and _is_number(b):
        x = _plain_binary(fn, a + 0, b + 0)
        if x is not None:
            return x
    given = isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor)
    a, b = _promote(_operand(a), _operand(b))
    return fn(a, b) if given else _wrap(fn(a, b))


def _plain_binary(fn, a, b):
    """fn of two Python numbers; None where numpy warns, wraps or raises in its own way."""
    if fn in (torch.fmod, _power):
        ok = fn is _power and a > 0 and -64 <= b <= 64 and (b >= 0 or isinstance(a, float) or isinstance(b, float))
    else:
        ok = math.isfinite(a) and math.isfinite(b) and b != 0
    return _wide(fn(a, b)) if ok else None


def _power(a, b):
    return a**b


def _larger(a, b):
    if _is_number(a) and _is_number(b):
        return b + 0 * a if b > a else a + 0 * b
    return torch.maximum(torch.as_tensor(a), torch.as_tensor(b, dtype=a.dtype))


def _smaller(a, b):
    if _is_number(a) and _is_number(b):
        return b + 0 * a if b < a else a + 0 * b
    return torch.minimum(torch.as_tensor(a), torch.as_tensor(b, dtype=a.dtype))


def _quotient(a, b):
    a = a if isinstance(a, (int, float)) else _real(a)
    return a / (b if isinstance(b, (int, float)) else _real(b))


def _in_place(name, a, b):
    b = b if isinstance(b, (int, float)) else _tensor(b)
    getattr(a._t, name)(b)
    return a


def _part(t, dim, s):
    """t with dimension dim indexed by a slice whose step is negative."""
    return t.index_select(dim, torch.tensor(list(range(*s.indices(t.size(dim)))), dtype=torch.int64))


def _at(t, index):
    """The tensor and the subscript for it: torch has no slices with a negative step."""
    parts = list(index) if isinstance(index, tuple) else [index]
    dim = 0
    for i, p in enumerate(parts):
        if isinstance(p, ndarray):
            parts[i] = p._t if p._t.dtype == torch.bool else p._t.long()
        if p is Ellipsis:
            dim = t.dim() - len([q for q in parts[i + 1 :] if q is not None])
        elif isinstance(p, slice) and p.step is not None and p.step < 0:
            t = _part(t, dim, p)
            parts[i] = slice(None)
            dim += 1
        elif p is not None:
            dim += p._t.dim() if isinstance(p, ndarray) and p._t.dtype == torch.bool else 1
    return t, tuple(parts)


class ndarray:
    __hash__ = None

    def __init__(self, t):
        self._t = t

    def __array__(self):
        return self._t

    @property
    def shape(self):
        return tuple(self._t.shape)

    @property
    def ndim(self):
        return self._t.dim()

    @property
    def size(self):
        return self._t.numel()

    @property
    def dtype(self):
        return dtype(str(self._t.dtype)[6:])

    @property
    def T(self):
        return transpose(self)

    def __len__(self):
        if not self._t.dim():
            raise TypeError("len() of unsized object")
        return self._t.size(0)

    def __iter__(self):
        if not self._t.dim():
            raise TypeError("iteration over a 0-d array")
        for i in range(len(self)):
            yield self[i]

    def __getitem__(self, index):
        t, index = _at(self._t, index)
        return _wrap(t[index])

    def __setitem__(self, index, value):
        t, index = _at(self._t, index)
        t[index] = value if isinstance(value, (int, float)) else _tensor(value).to(t.dtype)

    def __contains__(self, x):
        return bool((self._t == x).any())

    def __bool__(self):
        return bool(self._t)

    def __float__(self):
        return float(self._t)

    def __int__(self):
        return int(self._t)

    def __repr__(self):
        torch.library._only_printed("the text of an array")
        return f"array({self.tolist()})"

    def __add__(self, b):
        return add(self, b)

    def __radd__(self, a):
        return add(a, self)

    def __sub__(self, b):
        return subtract(self, b)

    def __rsub__(self, a):
        return subtract(a, self)

    def __mul__(self, b):
        return multiply(self, b)

    def __rmul__(self, a):
        return multiply(a, self)

    def __truediv__(self, b):
        return divide(self, b)

    def __rtruediv__(self, a):
        return divide(a, self)

    def __floordiv__(self, b):
        return floor_divide(self, b)

    def __rfloordiv__(self, a):
        return floor_divide(a, self)

    def __mod__(self, b):
        return mod(self, b)

    def __rmod__(self, a):
        return mod(a, self)

    def __pow__(self, b):
        return power(self, b)

    def __rpow__(self, a):
        return power(a, self)

    def __matmul__(self, b):
        return matmul(self, b)

    def __rmatmul__(self, a):
        return matmul(a, self)

    def __and__(self, b):
        return _binary(lambda a, b: a & b, self, b)

    def __or__(self, b):
        return _binary(lambda a, b: a | b, self, b)

    def __xor__(self, b):
        return _binary(lambda a, b: a ^ b, self, b)

    def __invert__(self):
        return ndarray(~self._t)

    def __neg__(self):
        return ndarray(-self._t)

    def __pos__(self):
        return self

    def __abs__(self):
        return ndarray(self._t.abs())

    def __iadd__(self, b):
        return _in_place("add_", self, b)

    def __isub__(self, b):
        return _in_place("sub_", self, b)

    def __imul__(self, b):
        return _in_place("mul_", self, b)

    def __itruediv__(self, b):
        return _in_place("div_", self, b)

    def __eq__(self, b):
        return equal(self, b)

    def __ne__(self, b):
        return not_equal(self, b)

    def __lt__(self, b):
        return less(self, b)

    def __le__(self, b):
        return less_equal(self, b)

    def __gt__(self, b):
        return greater(self, b)

    def __ge__(self, b):
        return greater_equal(self, b)

    def astype(self, kind, copy=True):
        return ndarray(_tensor(self, kind).clone())

    def copy(self):
        return ndarray(self._t.clone())

    def tolist(self):
        return self._t.tolist()

    def item(self, *index):
        return self._t.flatten()[index[0]].item() if len(index) == 1 else self._t[index].item() if index else self._t.item()

    def reshape(self, *shape):
        return reshape(self, shape[0] if len(shape) == 1 else shape)

    def flatten(self):
        return ndarray(self._t.flatten().clone())

    def ravel(self):
        return ndarray(self._t.flatten())

    def transpose(self, *axes):
        return transpose(self, axes[0] if len(axes) == 1 else axes or None)

    def swapaxes(self, a, b):
        return ndarray(self._t.transpose(a, b))

    def squeeze(self, axis=None):
        return squeeze(self, axis)

    def repeat(self, repeats, axis=None):
        return repeat(self, repeats, axis)

    def fill(self, value):
        self._t.fill_(value)

    def sort(self, axis=-1):
        self._t.copy_(torch.sort(self._t, axis).values)

    def argsort(self, axis=-1):
        return argsort(self, axis)

    def clip(self, low=None, high=None):
        return clip(self, low, high)

    def round(self, decimals=0):
        return round(self, decimals)

    def dot(self, b):
        return dot(self, b)

    def nonzero(self):
        return nonzero(self)

    def sum(self, axis=None, keepdims=False):
        return sum(self, axis, keepdims=keepdims)

    def mean(self, axis=None, keepdims=False):
        return mean(self, axis, keepdims=keepdims)

    def std(self, axis=None, ddof=0, keepdims=False):
        return std(self, axis, ddof=ddof, keepdims=keepdims)

    def var(self, axis=None, ddof=0, keepdims=False):
        return var(self, axis, ddof=ddof, keepdims=keepdims)

    def max(self, axis=None, keepdims=False):
        return max(self, axis, keepdims=keepdims)

    def min(self, axis=None, keepdims=False):
        return min(self, axis, keepdims=keepdims)

    def prod(self, axis=None):
        return prod(self, axis)

    def argmax(self, axis=None):
        return argmax(self, axis)

    def argmin(self, axis=None):
        return argmin(self, axis)

    def cumsum(self, axis=None):
        return cumsum(self, axis)

    def all(self, axis=None):
        return all(self, axis)

    def any(self, axis=None):
        return any(self, axis)


# --- making arrays


def array(object, dtype=None, copy=True, ndmin=0):
    t = _tensor(object, dtype)
    while t.dim() < ndmin:
        t = t.unsqueeze(0)
    return ndarray(t.clone() if isinstance(object, (ndarray, torch.Tensor)) else t)


def asarray(a, dtype=None):
    return a if isinstance(a, ndarray) and dtype is None else ndarray(_tensor(a, dtype))


def asanyarray(a, dtype=None):
    return asarray(a, dtype)


def ascontiguousarray(a, dtype=None):
    return ndarray(_tensor(a, dtype).contiguous())


def copy(a):
    return array(a)


def _size(shape):
    return (shape,) if isinstance(shape, int) else tuple([int(n) for n in shape])


def _kind(x):
    return dtype(float if x is None else x).torch


def zeros(shape, dtype=None):
    return ndarray(torch.zeros(_size(shape), dtype=_kind(dtype)))


def empty(shape, dtype=None):
    return ndarray(torch.zeros(_size(shape), dtype=_kind(dtype)))


def ones(shape, dtype=None):
    return ndarray(torch.ones(_size(shape), dtype=_kind(dtype)))


def full(shape, fill_value, dtype=None):
    return ndarray(torch.full(_size(shape), fill_value, dtype=_tensor(fill_value, dtype).dtype))


def zeros_like(a, dtype=None):
    return ndarray(torch.zeros_like(_tensor(a, dtype)))


def empty_like(a, dtype=None):
    return zeros_like(a, dtype)


def ones_like(a, dtype=None):
    return ndarray(torch.ones_like(_tensor(a, dtype)))


def full_like(a, fill_value, dtype=None):
    return ndarray(torch.full_like(_tensor(a, dtype), fill_value))


def eye(N, M=None, k=0, dtype=None):
    rows = torch.arange(N).unsqueeze(1)
    return ndarray((rows + k == torch.arange(N if M is None else M)).to(_kind(dtype)))


def identity(n, dtype=None):
    return eye(n, dtype=dtype)


def arange(start, stop=None, step=1, dtype=None):
    first, last = (0, start) if stop is None else (start, stop)
    whole = isinstance(first, int) and isinstance(last, int) and isinstance(step, int)
    n = -(-(last - first) // step)
    t = torch.arange(0 if n < 0 else int(n), dtype=torch.int64 if whole else torch.float64)
    return ndarray(_tensor(first + t * step, dtype))


def linspace(start, stop, num=50, endpoint=True, dtype=None):
    steps = num - 1 if endpoint else num
    t = torch.arange(num, dtype=torch.float64)
    t = start + t * ((stop - start) / (steps if steps > 0 else 1))
    if endpoint and num > 1:
        t[-1] = stop
    return ndarray(_tensor(t, dtype))


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None):
    return ndarray(_tensor(base ** linspace(start, stop, num, endpoint)._t, dtype))


# --- elementwise


def add(a, b):
    return _binary(lambda a, b: a + b, a, b)


def subtract(a, b):
    return _binary(lambda a, b: a - b, a, b)


def multiply(a, b):
    return _binary(lambda a, b: a * b, a, b)


def divide(a, b):
    return _binary(_quotient, a, b)


def true_divide(a, b):
    return divide(a, b)


def floor_divide(a, b):
    return _binary(lambda a, b: a // b, a, b)


def mod(a, b):
    return _binary(lambda a, b: a % b, a, b)


def fmod(a, b):
    return _binary(torch.fmod, a, b)


def remainder(a, b):
    return mod(a, b)


def power(a, b):
    return _binary(_power, a, b)


def maximum(a, b):
    return _binary(_larger, a, b)


def minimum(a, b):
    return _binary(_smaller, a, b)


def equal(a, b):
    return _binary(lambda a, b: a == b, a, b)


def not_equal(a, b):
    return _binary(lambda a, b: a != b, a, b)


def less(a, b):
    return _binary(lambda a, b: a < b, a, b)


def less_equal(a, b):
    return _binary(lambda a, b: a <= b, a, b)


def greater(a, b):
    return _binary(lambda a, b: a > b, a, b)


def greater_equal(a, b):
    return _binary(lambda a, b: a >= b, a, b)


def logical_and(a, b):
    return _wrap(torch.logical_and(_tensor(a), _tensor(b)))


def logical_or(a, b):
    return _wrap(torch.logical_or(_tensor(a), _tensor(b)))


def logical_not(a):
    return _wrap(torch.logical_not(_tensor(a)))


def _unary(fn, x, number=None, least=-math.inf, most=math.inf):
    """fn of an array; `number` of a Python number between `least` and `most`, where numpy gives a finite number."""
    if number and _is_number(x) and least < x < most:
        return _wide(float(number(x)))
    t = _tensor(x)
    if not t.is_floating_point() and t.dtype.itemsize < 4:
        raise NotImplementedError("a function of small integers, which numpy computes in small floats")
    return _wrap(fn(_real(t)))


def _whole(fn, x, number=None):
    if number and _is_number(x) and math.isfinite(x):
        return _wide(float(number(x)) if isinstance(x, float) else x + 0)
    t = _tensor(x)
    return _wrap(fn(t) if t.is_floating_point() else t.clone())


def sqrt(x):
    return _unary(torch.sqrt, x, math.sqrt, 0.0)


def exp(x):
    return _unary(torch.exp, x, math.exp, -700.0, 700.0)


def log(x):
    return _unary(torch.log, x, math.log, 0.0)


def log2(x):
    return _unary(torch.log2, x, math.log2, 0.0)


def log10(x):
    return _unary(torch.log10, x, math.log10, 0.0)


def log1p(x):
    return _unary(torch.log1p, x)


def sin(x):
    return _unary(torch.sin, x, math.sin)


def cos(x):
    return _unary(torch.cos, x, math.cos)


def tan(x):
    return _unary(torch.tan, x, math.tan)


def tanh(x):
    return _unary(torch.tanh, x, math.tanh)


def arctan(x):
    return _unary(torch.atan, x, math.atan)


def floor(x):
    return _whole(torch.floor, x, math.floor)


def ceil(x):
    return _whole(torch.ceil, x, math.ceil)


def round(x, decimals=0):
    t = _tensor(x)
    if not t.is_floating_point():
        return _wrap(t.clone())
    scale = 10.0**decimals
    return _wrap(torch.round(t * scale) / scale if decimals else torch.round(t))


def around(x, decimals=0):
    return round(x, decimals)


def abs(x):
    if _is_number(x):
        return _wide(x if x > 0 else 0 - x)
    return _wrap(torch.abs(_tensor(x)))


def absolute(x):
    return abs(x)


def sign(x):
    return _wrap(torch.sign(_tensor(x)))


def square(x):
    t = _tensor(x)
    return _wrap(t * t)


def isnan(x):
    return _wrap(torch.isnan(_tensor(x)))


def isinf(x):
    return _wrap(torch.isinf(_tensor(x)))


def isfinite(x):
    return _wrap(torch.isfinite(_tensor(x)))


def clip(a, a_min=None, a_max=None):
    a = a if a_min is None else maximum(a, a_min)
    return a if a_max is None else minimum(a, a_max)


def where(condition, x=None, y=None):
    if x is None:
        return nonzero(condition)
    a, b = _promote(_tensor(x), _operand(y))
    return _wrap(torch.where(_tensor(condition).bool(), a, b))


# --- reductions


def _signed(x, kind=None):
    """Sums and products of unsigned integers are uint64 in numpy, which is not supported here."""
    t = _tensor(x, kind)
    if t.dtype == torch.uint8 and kind is None:
        raise NotImplementedError("uint64 of numpy")
    return t


def _fold(step, x, axis, dtype=None, keepdims=False):
    """The numbers of a sequence, combined from left to right; None if they are to be combined as an array."""
    items = _items(x) if axis is None and dtype is None and not keepdims else None
    if items is None:
        return None
    out = items[0] + 0
    for v in items[1:]:
        out = step(out, v)
    return _wide(out)


def _reduce(fn, x, axis, keepdims=False):
    t = _tensor(x)
    if axis is not None and not t.dim():
        raise IndexError(f"axis {axis} is out of bounds for array of dimension 0")
    if axis is not None:
        return _wrap(fn(t, axis, keepdims))
    out = fn(t.flatten(), 0, False)
    return ndarray(out.reshape((1,) * t.dim())) if keepdims else _wrap(out)


def sum(a, axis=None, dtype=None, keepdims=False):
    x = _fold(lambda a, b: a + b, a, axis, dtype, keepdims)
    if x is not None:
        return x
    return _reduce(lambda t, d, k: torch.sum(t, d, k), _signed(a, dtype), axis, keepdims)


def mean(a, axis=None, keepdims=False):
    return _reduce(lambda t, d, k: torch.mean(_real(t), d, k), a, axis, keepdims)


def var(a, axis=None, ddof=0, keepdims=False):
    return _reduce(lambda t, d, k: torch.var(_real(t), d, correction=ddof, keepdim=k), a, axis, keepdims)


def std(a, axis=None, ddof=0, keepdims=False):
    return _reduce(lambda t, d, k: torch.std(_real(t), d, correction=ddof, keepdim=k), a, axis, keepdims)


def max(a, axis=None, keepdims=False):
    x = _fold(_larger, a, axis, None, keepdims)
    if x is not None:
        return x
    return _reduce(lambda t, d, k: torch.amax(t, d, k), a, axis, keepdims)


def amax(a, axis=None, keepdims=False):
    return max(a, axis, keepdims)


def min(a, axis=None, keepdims=False):
    x = _fold(_smaller, a, axis, None, keepdims)
    if x is not None:
        return x
    return _reduce(lambda t, d, k: torch.amin(t, d, k), a, axis, keepdims)


def amin(a, axis=None, keepdims=False):
    return min(a, axis, keepdims)


def prod(a, axis=None, dtype=None):
    x = _fold(lambda a, b: a * b, a, axis, dtype)
    if x is not None:
        return x
    return _reduce(lambda t, d, k: torch.prod(t, d), _signed(a, dtype), axis)


def argmax(a, axis=None):
    return _reduce(lambda t, d, k: torch.argmax(t, d), a, axis)


def argmin(a, axis=None):
    return _reduce(lambda t, d, k: torch.argmin(t, d), a, axis)


def all(a, axis=None):
    return _reduce(lambda t, d, k: torch.all(t.bool(), d), a, axis)


def any(a, axis=None):
    return _reduce(lambda t, d, k: torch.any(t.bool(), d), a, axis)


def cumsum(a, axis=None):
    t = _signed(a)
    return ndarray(torch.cumsum(t.flatten() if axis is None else t, 0 if axis is None else axis))


def cumprod(a, axis=None):
    t = _signed(a)
    return ndarray(torch.cumprod(t.flatten() if axis is None else t, 0 if axis is None else axis))


# --- shapes


def shape(a):
    return tuple(_tensor(a).shape)


def ndim(a):
    return _tensor(a).dim()


def size(a):
    return _tensor(a).numel()


def reshape(a, shape):
    return ndarray(_tensor(a).reshape(_size(shape)))


def transpose(a, axes=None):
    t = _tensor(a)
    return ndarray(t.permute(list(axes) if axes is not None else list(range(t.dim()))[::-1]))


def swapaxes(a, axis1, axis2):
    return ndarray(_tensor(a).transpose(axis1, axis2))


def moveaxis(a, source, destination):
    return ndarray(torch.movedim(_tensor(a), source, destination))


def squeeze(a, axis=None):
    t = _tensor(a)
    return _wrap(t.squeeze() if axis is None else t.squeeze(axis))


def expand_dims(a, axis):
    return ndarray(_tensor(a).unsqueeze(axis))


def _joined(arrays):
    parts = [_tensor(a) for a in arrays]
    kind = parts[0]
    for p in parts[1:]:
        kind, _ = _promote(kind.flatten()[:1], p.flatten()[:1])
        kind = kind.to(torch.promote_types(kind.dtype, _.dtype))
    return [p.to(kind.dtype) for p in parts]


def concatenate(arrays, axis=0):
    return ndarray(torch.cat(_joined(arrays), axis))


def stack(arrays, axis=0):
    return ndarray(torch.stack(_joined(arrays), axis))


def vstack(arrays):
    return ndarray(torch.cat([torch.atleast_2d(t) for t in _joined(arrays)], 0))


def hstack(arrays):
    parts = [torch.atleast_1d(t) for t in _joined(arrays)]
    return ndarray(torch.cat(parts, 0 if parts[0].dim() == 1 else 1))


def tile(a, reps):
    return ndarray(torch.tile(_tensor(a), _size(reps)))


def repeat(a, repeats, axis=None):
    t = _tensor(a)
    repeats = repeats if isinstance(repeats, int) else _tensor(repeats)
    return ndarray(torch.repeat_interleave(t.flatten() if axis is None else t, repeats, dim=0 if axis is None else axis))


def flip(a, axis=None):
    t = _tensor(a)
    return ndarray(torch.flip(t, list(range(t.dim())) if axis is None else [axis] if isinstance(axis, int) else list(axis)))


def roll(a, shift, axis=None):
    return ndarray(torch.roll(_tensor(a), shift, axis))


def meshgrid(*xi, indexing="xy"):
    return tuple([ndarray(t) for t in torch.meshgrid(*[_tensor(x) for x in xi], indexing=indexing)])


def diag(v, k=0):
    return ndarray(torch.diag(_tensor(v), k))


def triu(m, k=0):
    return ndarray(torch.triu(_tensor(m), k))


def tril(m, k=0):
    return ndarray(torch.tril(_tensor(m), k))


def pad(array, pad_width, mode="constant", constant_values=0):
    t = _tensor(array)
    if mode != "constant":
        raise NotImplementedError("numpy.pad with a mode other than constant")
    width = [(pad_width, pad_width)] * t.dim() if isinstance(pad_width, int) else pad_width
    width = [width] * t.dim() if isinstance(width[0], int) else width
    return ndarray(torch.nn.functional.pad(t, [n for w in width[::-1] for n in w], value=constant_values))


# --- products, order


def _multiplied(fn, a, b):
    a, b = _promote(_tensor(a), _tensor(b))
    kind = torch.promote_types(a.dtype, b.dtype)
    return _wrap(fn(a.to(kind), b.to(kind)))


def outer(a, b):
    return _multiplied(lambda a, b: torch.outer(a.flatten(), b.flatten()), a, b)


def matmul(a, b):
    given = isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor)
    made = _multiplied(lambda a, b: a @ b, a, b)
    return torch.as_tensor(made) if given else made


def dot(a, b):
    return _multiplied(lambda a, b: a @ b if a.dim() and b.dim() else a * b, a, b)


def sort(a, axis=-1):
    return ndarray(torch.sort(_tensor(a), axis).values)


def argsort(a, axis=-1):
    return ndarray(torch.argsort(_tensor(a), axis, stable=True))


def unique(ar, return_inverse=False, return_counts=False):
    made = torch.unique(_tensor(ar).flatten(), return_inverse=return_inverse, return_counts=return_counts)
    return tuple([ndarray(t) for t in made]) if isinstance(made, tuple) else ndarray(made)


def nonzero(a):
    if not ndim(a):
        raise ValueError("Calling nonzero on 0d arrays is not allowed.")
    return tuple([ndarray(t) for t in torch.nonzero(_tensor(a), as_tuple=True)])


def isscalar(x):
    return isinstance(x, (int, float, str, bool))


def allclose(a, b, rtol=1e-05, atol=1e-08):
    a, b = _real(_tensor(a)), _real(_tensor(b))
    return torch.allclose(a, b.to(a.dtype), rtol, atol)


def array_equal(a, b):
    a, b = _tensor(a), _tensor(b)
    return a.shape == b.shape and bool((a == b).all())


class finfo:
    def __init__(self, kind):
        self.dtype = dtype(kind)
        f = torch.finfo(self.dtype.torch)
        self.bits = f.bits
        self.eps, self.max, self.min = self.dtype(f.eps), self.dtype(f.max), self.dtype(f.min)
        self.tiny, self.smallest_normal, self.resolution = self.dtype(f.tiny), self.dtype(f.tiny), self.dtype(f.resolution)


class iinfo:
    def __init__(self, kind):
        self.dtype = dtype(kind)
        i = torch.iinfo(self.dtype.torch)
        self.bits, self.min, self.max, self.kind = i.bits, i.min, i.max, self.dtype.kind
