# dataclasses: fields come from the annotations, in order, bases first.


class _Missing:
    pass


MISSING = _Missing()


class _KwOnly:
    pass


KW_ONLY = _KwOnly()


class Field:
    def __init__(self, default, default_factory, init, repr, hash, compare, metadata, kw_only):
        self.name = None
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.hash = hash
        self.compare = compare
        self.metadata = {} if metadata is None else metadata
        self.kw_only = kw_only

    def __repr__(self):
        torch.library._missing("the text of a dataclasses.Field")


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None, kw_only=MISSING):
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError("cannot specify both default and default_factory")
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


def _init(self, *args, **kwargs):
    cls = type(self)
    known = cls.__dataclass_fields__
    names = [f for f in known.values() if f.init and not f.kw_only]
    if len(args) > len(names):
        raise TypeError(f"{cls.__name__}.__init__() takes {len(names) + 1} positional arguments but {len(args) + 1} were given")
    values = {f.name: value for f, value in zip(names, args)}
    for name, value in kwargs.items():
        if name in values:
            raise TypeError(f"{cls.__name__}.__init__() got multiple values for argument '{name}'")
        if name not in known or not known[name].init:
            raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument '{name}'")
        values[name] = value
    for f in known.values():
        if f.name in values:
            value = values[f.name]
        elif f.default_factory is not MISSING:
            value = f.default_factory()
        elif not f.init:
            continue
        elif f.default is not MISSING:
            value = f.default
        else:
            raise TypeError(f"{cls.__name__}.__init__() missing 1 required positional argument: '{f.name}'")
        object.__setattr__(self, f.name, value)
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def _repr(self):
    shown = [f"{f.name}={getattr(self, f.name)!r}" for f in type(self).__dataclass_fields__.values() if f.repr]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _compared(self):
    return tuple([getattr(self, f.name) for f in type(self).__dataclass_fields__.values() if f.compare])


def _eq(self, other):
    return _compared(self) == _compared(other) if type(self) is type(other) else NotImplemented


def _lt(self, other):
    return _compared(self) < _compared(other) if type(self) is type(other) else NotImplemented


def _le(self, other):
    return _compared(self) <= _compared(other) if type(self) is type(other) else NotImplemented


def _gt(self, other):
    return _compared(self) > _compared(other) if type(self) is type(other) else NotImplemented


def _ge(self, other):
    return _compared(self) >= _compared(other) if type(self) is type(other) else NotImplemented


def _hash(self):
    return hash(tuple([getattr(self, f.name) for f in type(self).__dataclass_fields__.values() if (f.compare if f.hash is None else f.hash)]))


def _frozen_setattr(self, name, value):
    raise FrozenInstanceError(f"cannot assign to field '{name}'")


def _frozen_delattr(self, name):
    raise FrozenInstanceError(f"cannot delete field '{name}'")


class FrozenInstanceError(AttributeError):
    pass


def _field_of(cls, name, kw_only):
    default = cls.__dict__.get(name, MISSING)
    f = default if isinstance(default, Field) else Field(default, MISSING, True, True, None, True, None, MISSING)
    f.name = name
    if f.kw_only is MISSING:
        f.kw_only = kw_only
    if isinstance(f.default, (list, dict, set)):
        raise ValueError(f"mutable default {type(f.default)} for field {name} is not allowed: use default_factory")
    if isinstance(default, Field) and default.default is MISSING:
        delattr(cls, name)
    elif isinstance(default, Field):
        setattr(cls, name, default.default)
    return f


def _check_annotation(annotation):
    if annotation is None:
        torch.library._missing("a dataclass with annotations that are texts")
    if annotation is InitVar:
        torch.library._missing("dataclasses.InitVar")


class InitVar:
    def __init__(self, type):
        self.type = type


def _own_fields(cls, kw_only):
    found = {}
    for name, annotation in cls.__dict__.get("__annotations__", {}).items():
        _check_annotation(annotation)
        if annotation is KW_ONLY:
            kw_only = True
        elif annotation is not typing.ClassVar:
            found[name] = _field_of(cls, name, kw_only)
    return found


def _check_order(found):
    seen = None
    for f in found.values():
        if not f.init or f.kw_only:
            continue
        if f.default is not MISSING or f.default_factory is not MISSING:
            seen = f
        elif seen is not None:
            raise TypeError(f"non-default argument '{f.name}' follows default argument")


def _set_order(cls):
    for name, method in (("__lt__", _lt), ("__le__", _le), ("__gt__", _gt), ("__ge__", _ge)):
        if name in cls.__dict__:
            raise TypeError(f"Cannot overwrite attribute {name} in class {cls.__name__}. Consider using functools.total_ordering")
        setattr(cls, name, method)


def _process(cls, init, repr, eq, order, unsafe_hash, frozen, kw_only):
    found = {}
    own = cls.__dict__
    for base in reversed(cls.__mro__[1:]):
        if "__dataclass_fields__" in base.__dict__:
            found.update(base.__dataclass_fields__)
            if base.__dataclass_frozen__ != frozen:
                raise TypeError("cannot inherit frozen dataclass from a non-frozen one" if frozen else "cannot inherit non-frozen dataclass from a frozen one")
    found.update(_own_fields(cls, kw_only))
    cls.__dataclass_fields__ = found
    cls.__dataclass_frozen__ = frozen
    cls.__match_args__ = tuple([f.name for f in found.values() if f.init and not f.kw_only])
    if order and not eq:
        raise ValueError("eq must be true if order is true")
    if init and "__init__" not in own:
        _check_order(found)
        cls.__init__ = _init
    if repr and "__repr__" not in own:
        cls.__repr__ = _repr
    if eq and "__eq__" not in own:
        cls.__eq__ = _eq
    if order:
        _set_order(cls)
    if unsafe_hash or (eq and frozen):
        cls.__hash__ = _hash
    elif eq:
        cls.__hash__ = None
    if frozen:
        cls.__setattr__ = _frozen_setattr
        cls.__delattr__ = _frozen_delattr
    return cls


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False, match_args=True,
              kw_only=False, slots=False, weakref_slot=False):
    def wrap(c):
        return _process(c, init, repr, eq, order, unsafe_hash, frozen, kw_only)

    if slots or weakref_slot:
        torch.library._missing("dataclass(slots=True)")
    return wrap if cls is None else wrap(cls)


def fields(class_or_instance):
    if not hasattr(class_or_instance, "__dataclass_fields__"):
        raise TypeError("must be called with a dataclass type or instance")
    return tuple(class_or_instance.__dataclass_fields__.values())


def is_dataclass(obj):
    return hasattr(obj, "__dataclass_fields__")


def _is_instance(obj):
    return hasattr(type(obj), "__dataclass_fields__")


def _inner(value, record, factory):
    if _is_instance(value):
        return record(value, factory)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_inner(v, record, factory) for v in value])
    if isinstance(value, (list, tuple)):
        return type(value)([_inner(v, record, factory) for v in value])
    if isinstance(value, dict):
        if isinstance(value, collections.defaultdict):
            torch.library._missing("dataclasses.asdict of a defaultdict")
        return type(value)([(_inner(k, record, factory), _inner(v, record, factory)) for k, v in value.items()])
    return copy.deepcopy(value)


def _as_tuple(obj, factory):
    return factory([_inner(getattr(obj, name), _as_tuple, factory) for name in type(obj).__dataclass_fields__])


def _as_dict(obj, factory):
    return factory([(name, _inner(getattr(obj, name), _as_dict, factory)) for name in type(obj).__dataclass_fields__])


def astuple(obj, *, tuple_factory=tuple):
    if not _is_instance(obj):
        raise TypeError("astuple() should be called on dataclass instances")
    return _as_tuple(obj, tuple_factory)


def asdict(obj, *, dict_factory=dict):
    if not _is_instance(obj):
        raise TypeError("asdict() should be called on dataclass instances")
    return _as_dict(obj, dict_factory)


def replace(obj, /, **changes):
    if not _is_instance(obj):
        raise TypeError("replace() should be called on dataclass instances")
    for f in type(obj).__dataclass_fields__.values():
        if not f.init:
            if f.name in changes:
                raise ValueError(f"field {f.name} is declared with init=False, it cannot be specified with replace()")
        elif f.name not in changes:
            changes[f.name] = getattr(obj, f.name)
    return type(obj)(**changes)
