# dataclasses: fields come from the annotations, in order, bases first.


class _Missing:
    pass


MISSING = _Missing()


class Field:
    def __init__(self, default=MISSING, default_factory=MISSING, init=True, repr=True, compare=True):
        self.name = None
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.compare = compare


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None, kw_only=False):
    return Field(default, default_factory, init, repr, compare)


def _init(self, *args, **kwargs):
    cls = type(self)
    names = [f for f in cls.__dataclass_fields__.values() if f.init]
    if len(args) > len(names):
        raise TypeError(f"{cls.__name__}.__init__() takes {len(names) + 1} positional arguments but {len(args) + 1} were given")
    values = {f.name: value for f, value in zip(names, args)}
    for name, value in kwargs.items():
        if name in values:
            raise TypeError(f"{cls.__name__}.__init__() got multiple values for argument '{name}'")
        if name not in cls.__dataclass_fields__:
            raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument '{name}'")
        values[name] = value
    for f in cls.__dataclass_fields__.values():
        if f.name in values:
            value = values[f.name]
        elif f.default is not MISSING:
            value = f.default
        elif f.default_factory is not MISSING:
            value = f.default_factory()
        elif f.init:
            raise TypeError(f"{cls.__name__}.__init__() missing 1 required positional argument: '{f.name}'")
        else:
            continue
        object.__setattr__(self, f.name, value)
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def _repr(self):
    shown = [f"{f.name}={getattr(self, f.name)!r}" for f in type(self).__dataclass_fields__.values() if f.repr]
    return f"{type(self).__name__}({', '.join(shown)})"


def _eq(self, other):
    if type(self) is not type(other):
        return NotImplemented
    return astuple(self) == astuple(other)


def _frozen_setattr(self, name, value):
    raise FrozenInstanceError(f"cannot assign to field '{name}'")


class FrozenInstanceError(AttributeError):
    pass


def _process(cls, init, repr, eq, frozen):
    found = {}
    for base in reversed(cls.__mro__[1:]):
        if hasattr(base, "__dataclass_fields__"):
            found.update(base.__dataclass_fields__)
    own = cls.__dict__
    for name in own.get("__annotations__", {}):
        default = own.get(name, MISSING)
        f = default if isinstance(default, Field) else Field(default)
        f.name = name
        if isinstance(default, Field) and default.default is MISSING:
            delattr(cls, name)
        elif isinstance(default, Field):
            setattr(cls, name, default.default)
        found[name] = f
    cls.__dataclass_fields__ = found
    cls.__match_args__ = tuple(found)
    if init and "__init__" not in own:
        cls.__init__ = _init
    if repr and "__repr__" not in own:
        cls.__repr__ = _repr
    if eq and "__eq__" not in own:
        cls.__eq__ = _eq
    if frozen:
        cls.__setattr__ = _frozen_setattr
    return cls


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False, match_args=True,
              kw_only=False, slots=False):
    def wrap(c):
        return _process(c, init, repr, eq, frozen)

    return wrap if cls is None else wrap(cls)


def fields(obj):
    return tuple(obj.__dataclass_fields__.values())


def is_dataclass(obj):
    return hasattr(obj, "__dataclass_fields__")


def astuple(obj):
    return tuple([getattr(obj, name) for name in obj.__dataclass_fields__])


def asdict(obj):
    return {name: asdict(v) if is_dataclass(v) else v for name, v in [(n, getattr(obj, n)) for n in obj.__dataclass_fields__]}


def replace(obj, **changes):
    values = {name: getattr(obj, name) for name in obj.__dataclass_fields__}
    values.update(changes)
    return type(obj)(**values)
