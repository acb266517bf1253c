# typing: annotations say nothing here; a subscripted name is the name.


class _Any:
    def __init__(self, name="Any", check=None):
        self._name = name
        self._check = check

    def __getitem__(self, item):
        return self

    def __call__(self, *args, **kwargs):
        return args[-1] if args else self

    def __or__(self, other):
        return self

    def __ror__(self, other):
        return self

    def __repr__(self):
        return "typing." + self._name

    def __subclasscheck__(self, cls):
        if self._check is None:
            raise TypeError("typing." + self._name + " cannot be used with isinstance()")
        return self._check(cls)


def _has(*names):
    return lambda cls: all([hasattr(cls, name) for name in names]) or issubclass(cls, (list, tuple, dict, set, str, range))


Any = _Any("Any")
Optional = _Any("Optional")
Union = _Any("Union")
Generic = _Any("Generic")
Protocol = _Any("Protocol")
ClassVar = _Any("ClassVar")
Final = _Any("Final")
Literal = _Any("Literal")
Annotated = _Any("Annotated")
NoReturn = _Any("NoReturn")
Self = _Any("Self")
Type = type
List = list
Tuple = tuple
Dict = dict
Set = set
FrozenSet = frozenset
Text = str
Sequence = _Any("Sequence", lambda cls: issubclass(cls, (list, tuple, str, range)))
MutableSequence = _Any("MutableSequence", lambda cls: issubclass(cls, list))
Iterable = _Any("Iterable", _has("__iter__"))
Iterator = _Any("Iterator", _has("__next__"))
Generator = _Any("Generator", _has("__next__"))
Collection = _Any("Collection", _has("__iter__", "__len__"))
Container = _Any("Container", _has("__contains__"))
Sized = _Any("Sized", _has("__len__"))
Mapping = _Any("Mapping", lambda cls: issubclass(cls, dict))
MutableMapping = _Any("MutableMapping", lambda cls: issubclass(cls, dict))
Hashable = _Any("Hashable", _has("__hash__"))
Callable = _Any("Callable", lambda cls: hasattr(cls, "__call__"))
DefaultDict = collections.defaultdict
OrderedDict = collections.OrderedDict
Deque = collections.deque
Counter = collections.Counter
TYPE_CHECKING = False


def TypeVar(name, *constraints, **kwargs):
    return _Any(name)


def ParamSpec(name, **kwargs):
    return _Any(name)


def NewType(name, tp):
    return tp


def cast(typ, val):
    return val


def overload(func):
    return func


def final(func):
    return func


def no_type_check(func):
    return func


def runtime_checkable(cls):
    return cls


def get_type_hints(obj):
    return {}


class NamedTuple(collections._Named):
    def __init_subclass__(cls, **kwargs):
        cls._fields = tuple(cls.__annotations__)
        cls._field_defaults = {name: cls.__dict__[name] for name in cls._fields if name in cls.__dict__}
        for name in cls._field_defaults:
            delattr(cls, name)


class TypedDict(dict):
    def __init_subclass__(cls, **kwargs):
        pass
