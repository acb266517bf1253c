# typing: annotations. Programs may build them and use isinstance(); their text and equality are refused.


class _Name:
    def __init__(self, name="Any", check=None, makes=None):
        self._name = name
        self._check = check
        self._makes = makes

    def __getitem__(self, item):
        return _Alias(self._name, item if isinstance(item, tuple) else (item,))

    def __call__(self, *args, **kwargs):
        if self._makes is None:
            torch.library._missing("a call of typing." + self._name)
        return self._makes(*args, **kwargs)

    def __or__(self, other):
        return _Alias("Union", (self, other))

    def __ror__(self, other):
        return _Alias("Union", (other, self))

    def __repr__(self):
        torch.library._missing("the text of a type of typing")

    def __subclasscheck__(self, cls):
        if self._check is None:
            raise TypeError("typing." + self._name + " cannot be used with isinstance()")
        return self._check(cls)


class _Mixin(_Name):
    def __getitem__(self, item):
        return self


class _Alias:
    def __init__(self, name, args):
        self._name = name
        self._args = args

    def __getitem__(self, item):
        return self

    def __call__(self, *args, **kwargs):
        torch.library._missing("a call of typing." + self._name + "[...]")

    def __or__(self, other):
        return _Alias("Union", (self, other))

    def __ror__(self, other):
        return _Alias("Union", (other, self))

    def __eq__(self, other):
        torch.library._missing("whether two types of typing are equal")

    def __repr__(self):
        torch.library._missing("the text of a type of typing")

    def __subclasscheck__(self, cls):
        if self._name == "Optional":
            return cls is type(None) or issubclass(cls, self._args[0])
        if self._name == "Union":
            return any([cls is type(None) if one is None else issubclass(cls, one) for one in self._args])
        raise TypeError("Subscripted generics cannot be used with class and instance checks")


def _of(*classes):
    return lambda cls: issubclass(cls, classes)


_iterator = type(iter([]))
_keys = type({}.keys())
_values = type({}.values())
_items = type({}.items())
_functions = (type(len), type(lambda: 0), type([].append), type(_Name.__init__), type(_Name("").__call__), type(int))


def _is_iterable(cls):
    return issubclass(cls, (list, tuple, str, bytes, dict, set, frozenset, range, _iterator, _keys, _values, _items, torch.Tensor)) or hasattr(cls, "__iter__")


def _is_iterator(cls):
    return issubclass(cls, _iterator) or (hasattr(cls, "__next__") and hasattr(cls, "__iter__"))


def _is_generator(cls):
    if issubclass(cls, _iterator):
        torch.library._missing("whether an iterator is a generator")
    return False


def _is_sized(cls):
    return issubclass(cls, (list, tuple, str, bytes, dict, set, frozenset, range, _keys, _values, _items, torch.Tensor)) or hasattr(cls, "__len__")


def _is_container(cls):
    return issubclass(cls, (list, tuple, str, bytes, dict, set, frozenset, range, _keys, _values, _items, torch.Tensor)) or hasattr(cls, "__contains__")


def _is_collection(cls):
    return _is_sized(cls) and _is_iterable(cls) and _is_container(cls)


def _is_hashable(cls):
    if hasattr(cls, "__dataclass_fields__"):
        torch.library._missing("whether a dataclass is hashable")
    return not issubclass(cls, (list, dict, set, slice, collections.deque, _keys, _items))


def _is_callable(cls):
    return issubclass(cls, _functions) or hasattr(cls, "__call__")


Any = _Name("Any")
Optional = _Name("Optional")
Union = _Name("Union")
Generic = _Mixin("Generic")
Protocol = _Mixin("Protocol")
ClassVar = _Name("ClassVar")
Final = _Name("Final")
Literal = _Name("Literal")
Annotated = _Name("Annotated")
NoReturn = _Name("NoReturn")
Self = _Name("Self")
Type = _Name("Type", _of(type))
List = _Name("List", _of(list))
Tuple = _Name("Tuple", _of(tuple))
Dict = _Name("Dict", _of(dict))
Set = _Name("Set", _of(set))
FrozenSet = _Name("FrozenSet", _of(frozenset))
Text = str
Sequence = _Name("Sequence", _of(list, tuple, str, bytes, range, collections.deque))
MutableSequence = _Name("MutableSequence", _of(list, collections.deque))
Iterable = _Name("Iterable", _is_iterable)
Iterator = _Name("Iterator", _is_iterator)
Generator = _Name("Generator", _is_generator)
Collection = _Name("Collection", _is_collection)
Container = _Name("Container", _is_container)
Sized = _Name("Sized", _is_sized)
Mapping = _Name("Mapping", _of(dict))
MutableMapping = _Name("MutableMapping", _of(dict))
Hashable = _Name("Hashable", _is_hashable)
Callable = _Name("Callable", _is_callable)
DefaultDict = _Name("DefaultDict", _of(collections.defaultdict), collections.defaultdict)
OrderedDict = _Name("OrderedDict", _of(collections.OrderedDict), collections.OrderedDict)
Deque = _Name("Deque", _of(collections.deque), collections.deque)
Counter = _Name("Counter", _of(collections.Counter), collections.Counter)
TYPE_CHECKING = False


def TypeVar(name, *constraints, **kwargs):
    return _Name(name)


def ParamSpec(name, **kwargs):
    return _Name(name)


class NewType:
    def __init__(self, name, tp):
        self._tp = tp

    def __call__(self, x):
        return x


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


def get_type_hints(obj, globalns=None, localns=None, include_extras=False):
    torch.library._missing("typing.get_type_hints")


class NamedTuple(collections._Named):
    def __init_subclass__(cls, **kwargs):
        cls._fields = tuple(cls.__annotations__)
        cls._field_defaults = {name: cls.__dict__[name] for name in cls._fields if name in cls.__dict__}
        for name in cls._field_defaults:
            delattr(cls, name)


class TypedDict(dict):
    def __init_subclass__(cls, **kwargs):
        pass
