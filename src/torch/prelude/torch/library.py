# torch.library: custom operators of a program, called by name or through torch.ops. Arguments reach the
# function as PyTorch's dispatcher passes them: converted to the types of the schema.


def _base(kind, value):
    if kind == "Tensor":
        return isinstance(value, torch.Tensor), value
    if kind == "int":
        return isinstance(value, int), value
    if kind == "float":
        return isinstance(value, (int, float)), value
    if kind == "bool":
        return isinstance(value, bool), value
    if kind == "str":
        return isinstance(value, str), value
    if kind == "dtype":
        return isinstance(value, torch.dtype), value
    if kind == "device":
        return isinstance(value, (str, torch.device)), value
    return isinstance(value, (int, float)), value


_made = {"int": int, "float": float, "device": torch.device}


def _convert(op, name, kind, value):
    if kind.endswith("?"):
        return None if value is None else _convert(op, name, kind[:-1], value)
    if kind.endswith("[]"):
        if not isinstance(value, (list, tuple)):
            raise RuntimeError(f"{op}() Expected a value of type '{kind}' for argument '{name}'")
        return [_convert(op, name, kind[:-2], item) for item in value]
    fits, value = _base(kind, value)
    if not fits:
        raise RuntimeError(f"{op}() Expected a value of type '{kind}' for argument '{name}'")
    return _made[kind](value) if kind in _made else value


def _tensors(values):
    found = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _tensors(value)
    return found


class CustomOpDef:
    def __init__(self, name, fn, mutates_args):
        namespace, _, self._name = name.partition("::")
        if not self._name or "::" in self._name:
            raise ValueError("the name of an operator is 'namespace::name'")
        if name in _defined or namespace in ("aten", "prim", "prims", "torch", "quantized", "inductor", "c10d", "higher_order"):
            torch.library._missing(f"torch.library: {name} is there already")
        self._fn = fn
        self._parameters = torch.library._parameters(fn)
        self._results = torch.library._results(fn)
        self._check_mutated(mutates_args)
        for parameter, kind, keyword, default in self._parameters:
            if keyword and kind.startswith("Tensor"):
                torch.library._missing(f"custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: {parameter}")
            if default:
                _convert(self._name, parameter, kind + "?", default[0])
        _defined[name] = self

    def _check_mutated(self, names):
        if isinstance(names, str):
            if names != "unknown":
                raise ValueError("mutates_args must either be a sequence of the names of the arguments that are mutated or the string 'unknown'. ")
            return
        kinds = {name: kind for name, kind, _, _ in self._parameters}
        for name in names:
            if name not in kinds:
                raise ValueError(f"infer_schema(func): {name} in mutates_args was not found in the custom op's signature. ")
            if not kinds[name].startswith("Tensor"):
                raise ValueError(f"infer_schema(func): Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")

    def _bind(self, args, kwargs):
        left = dict(kwargs)
        given = list(args)
        values = {}
        for name, kind, keyword, default in self._parameters:
            if given and not keyword:
                value = given.pop(0)
            elif name in left:
                value = left.pop(name)
            elif default:
                value, kind = default[0], kind if default[0] is not None else kind + "?"
            else:
                raise RuntimeError(f"{self._name}() is missing value for argument '{name}'")
            values[name] = _convert(self._name, name, kind, value)
        if given or left:
            raise RuntimeError(f"{self._name}() has more arguments than its schema")
        return values

    def _check_result(self, result, inputs):
        if (self._results == "()") != (result is None) or self._results == "Tensor" and not isinstance(result, torch.Tensor):
            raise RuntimeError(f"{self._name}() gives something else than {self._results}")
        if self._results[0] == "(" and self._results != "()":
            if not isinstance(result, (tuple, list)) or len(result) != self._results.count(",") + 1:
                raise RuntimeError(f"{self._name}() gives something else than {self._results}")
        seen = _tensors(inputs)
        for t in _tensors((result,)):
            for other in seen:
                if torch.library._shares(t, other):
                    raise RuntimeError(f"{self._name}: The output of this custom operator (1) must not also be an input to this custom operator "
                                       "and (2) may not alias any inputs to this custom operator or other returns.")
            seen.append(t)

    def __call__(self, *args, **kwargs):
        values = self._bind(args, kwargs)
        with torch.no_grad():
            result = self._fn(**values)
        self._check_result(result, list(values.values()))
        return tuple(result) if self._results[0] == "(" and result is not None else result

    def register_fake(self, fn, /):
        return fn

    def __getattr__(self, name):
        torch.library._missing(f"CustomOpDef.{name}")


_defined = {}


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    if device_types not in (None, "cuda") or schema is not None:
        torch.library._missing("torch.library.custom_op with device types other than cuda or with a schema")

    def decorate(f):
        return CustomOpDef(name, f, mutates_args)

    return decorate if fn is None else decorate(fn)


def triton_op(name, fn=None, /, *, mutates_args, schema=None):
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel, /):
    if not isinstance(triton_kernel, (triton.JITFunction, triton.Autotuner)):
        raise RuntimeError("wrap_triton only works on functions annotated with triton.jit or triton.autotune")
    return triton_kernel


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1):
    if not isinstance(op, CustomOpDef) and op not in _defined:
        torch.library._missing(f"torch.library.register_fake of {op}")
    return (lambda f: f) if func is None else func


class _Packet:
    # torch.ops.namespace.name: the operator and its only overload, `default`.
    def __init__(self, op):
        self._op = op
        self.default = op

    def __call__(self, *args, **kwargs):
        return self._op(*args, **kwargs)

    def __getattr__(self, name):
        torch.library._missing(f"OpOverloadPacket.{name}")


class _Namespace:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        full = f"{self._name}::{name}"
        if full not in _defined:
            torch.library._missing(f"torch.ops.{self._name}.{name}")
        return _Packet(_defined[full])


class _Operators:
    def __getattr__(self, name):
        return _Namespace(name)
