# torch: gradient modes, settings objects, and small functions that need no C.


class no_grad:
    def __init__(self, orig_func=None):
        self.prev = []

    def __new__(cls, orig_func=None):
        self = object.__new__(cls)
        if orig_func is not None:
            self.__init__()
            return self(orig_func)
        return self

    mode = False

    def __enter__(self):
        self.prev.append(torch._C._set_grad_enabled(self.mode))

    def __exit__(self, kind, value, trace):
        torch._C._set_grad_enabled(self.prev.pop())

    def __call__(self, func):
        def wrapped(*args, **kwargs):
            with self:
                return func(*args, **kwargs)

        wrapped.__name__ = getattr(func, "__name__", "wrapped")
        return wrapped


class enable_grad(no_grad):
    mode = True


class inference_mode(no_grad):
    def __init__(self, mode=True):
        self.prev = []
        self.mode = not mode

    def __new__(cls, mode=True):
        self = object.__new__(cls)
        if callable(mode):
            self.__init__()
            return self(mode)
        return self


class set_grad_enabled(no_grad):
    def __new__(cls, mode):
        return object.__new__(cls)

    def __init__(self, mode):
        self.mode = mode
        self.prev = [torch._C._set_grad_enabled(mode)]

    def __enter__(self):
        torch._C._set_grad_enabled(self.mode)


class autocast:
    def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
        if enabled and dtype is not torch.float32:
            raise NotImplementedError("torch.autocast")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None

    def __call__(self, func):
        return func


class Generator:
    def __init__(self, device="cpu"):
        self.device = torch.device(device)

    def manual_seed(self, seed):
        raise NotImplementedError("torch.Generator")


def is_tensor(obj):
    return isinstance(obj, torch.Tensor)


def is_floating_point(input):
    return input.is_floating_point()


def numel(input):
    return input.numel()


def compile(model=None, **kwargs):
    if model is None:
        return lambda m: m
    return model


def typename(o):
    if not isinstance(o, (type(1), type(1.0), str)):
        raise NotImplementedError("torch.typename")
    return type(o).__name__


class finfo:
    _table = {
        "torch.float64": (64, 2.220446049250313e-16, 1.7976931348623157e308, 2.2250738585072014e-308, 1e-15),
        "torch.float32": (32, 1.1920928955078125e-07, 3.4028234663852886e38, 1.1754943508222875e-38, 1e-06),
        "torch.float16": (16, 0.0009765625, 65504.0, 6.103515625e-05, 0.001),
        "torch.bfloat16": (16, 0.0078125, 3.3895313892515355e38, 1.1754943508222875e-38, 0.01),
        "torch.float8_e4m3fn": (8, 0.125, 448.0, 0.015625, 1.0),
        "torch.float8_e5m2": (8, 0.25, 57344.0, 6.103515625e-05, 1.0),
    }

    def __init__(self, dtype=None):
        dtype = torch.get_default_dtype() if dtype is None else dtype
        if str(dtype) not in self._table:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{dtype}'")
        self.bits, self.eps, self.max, self.tiny, self.resolution = self._table[str(dtype)]
        self.min = -self.max
        self.smallest_normal = self.tiny
        self.dtype = str(dtype)[6:]

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self):
        raise NotImplementedError("the hash of a torch.finfo")


class iinfo:
    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self):
        raise NotImplementedError("the hash of a torch.iinfo")

    def __init__(self, dtype):
        if dtype == torch.bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if dtype.is_floating_point:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{dtype}'")
        self.bits = dtype.itemsize * 8
        self.min = -(2 ** (self.bits - 1)) if dtype.is_signed else 0
        self.max = 2 ** (self.bits - 1) - 1 if dtype.is_signed else 2**self.bits - 1
        self.dtype = str(dtype)[6:]


inf = math.inf
nan = math.nan
pi = math.pi
e = math.e
newaxis = None
ops = torch.library._Operators()


def _typed(dtype, args):
    if len(args) == 1 and not isinstance(args[0], (type(0), torch.Size)):
        return torch.as_tensor(args[0], dtype=dtype)
    return torch.empty(*args, dtype=dtype)


class FloatTensor:
    def __new__(cls, *args):
        return _typed(torch.float32, args)


class HalfTensor:
    def __new__(cls, *args):
        return _typed(torch.float16, args)


class DoubleTensor:
    def __new__(cls, *args):
        return _typed(torch.float64, args)


class LongTensor:
    def __new__(cls, *args):
        return _typed(torch.int64, args)


class IntTensor:
    def __new__(cls, *args):
        return _typed(torch.int32, args)


class ByteTensor:
    def __new__(cls, *args):
        return _typed(torch.uint8, args)


class BoolTensor:
    def __new__(cls, *args):
        return _typed(torch.bool, args)
