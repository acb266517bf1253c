# collections: defaultdict, Counter, deque and namedtuple. OrderedDict is a native class.


class defaultdict(dict):
    def __init__(self, default_factory=None, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        value = self.default_factory()
        self[key] = value
        return value

    def copy(self):
        return defaultdict(self.default_factory, self)

    def __copy__(self):
        return defaultdict(self.default_factory, self)

    def __or__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        made = defaultdict(self.default_factory, self)
        made.update(other)
        return made

    def __ror__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        made = defaultdict(self.default_factory, other)
        made.update(self)
        return made

    def __repr__(self):
        return f"defaultdict({self.default_factory!r}, {dict(self)!r})"


class Counter(dict):
    def __init__(self, iterable=None, /, **kwargs):
        super().__init__()
        self.update(iterable, **kwargs)

    def __missing__(self, key):
        return 0

    def update(self, iterable=None, /, **kwargs):
        if isinstance(iterable, dict):
            for key, n in iterable.items():
                self[key] = self[key] + n
        elif iterable is not None:
            for key in iterable:
                self[key] = self[key] + 1
        for key, n in kwargs.items():
            self[key] = self[key] + n

    def most_common(self, n=None):
        items = sorted(self.items(), key=lambda item: item[1], reverse=True)
        return items if n is None else items[:max(n, 0)]

    def elements(self):
        return (key for key, n in self.items() for _ in range(n))

    def subtract(self, iterable=None, /, **kwargs):
        if isinstance(iterable, dict):
            for key, n in iterable.items():
                self[key] = self[key] - n
        elif iterable is not None:
            for key in iterable:
                self[key] = self[key] - 1
        for key, n in kwargs.items():
            self[key] = self[key] - n

    def copy(self):
        return Counter(self)

    @classmethod
    def fromkeys(cls, iterable, v=None):
        raise NotImplementedError("Counter.fromkeys() is undefined.  Use Counter(iterable) instead.")

    def _positive(self, other, combine):
        if not isinstance(other, Counter):
            return NotImplemented
        made = Counter()
        for key in self:
            n = combine(self[key], other[key])
            if n > 0:
                made[key] = n
        for key in other:
            n = combine(0, other[key])
            if key not in self and n > 0:
                made[key] = n
        return made

    def __add__(self, other):
        return self._positive(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._positive(other, lambda a, b: a - b)

    def __or__(self, other):
        return self._positive(other, max)

    def __and__(self, other):
        return self._positive(other, min)

    def __pos__(self):
        return self + Counter()

    def __neg__(self):
        return Counter() - self

    def _all(self, other, compare):
        if not isinstance(other, Counter):
            return NotImplemented
        return all([compare(self[key], other[key]) for c in (self, other) for key in c])

    def __eq__(self, other):
        return self._all(other, lambda a, b: a == b) if isinstance(other, Counter) else dict(self) == other

    def __ne__(self, other):
        return not self == other

    def __le__(self, other):
        return self._all(other, lambda a, b: a <= b)

    def __lt__(self, other):
        return self <= other and self != other

    def __ge__(self, other):
        return self._all(other, lambda a, b: a >= b)

    def __gt__(self, other):
        return self >= other and self != other

    def total(self):
        return sum(self.values())

    def __repr__(self):
        return f"Counter({dict(self.most_common())!r})" if self else "Counter()"


class deque:
    def __init__(self, iterable=(), maxlen=None):
        self._items = []
        self.maxlen = maxlen
        self.extend(iterable)

    def append(self, item):
        self._items.append(item)
        if self.maxlen is not None and len(self._items) > self.maxlen:
            self._items.pop(0)

    def appendleft(self, item):
        self._items.insert(0, item)
        if self.maxlen is not None and len(self._items) > self.maxlen:
            self._items.pop()

    def pop(self):
        if not self._items:
            raise IndexError("pop from an empty deque")
        return self._items.pop()

    def popleft(self):
        if not self._items:
            raise IndexError("pop from an empty deque")
        return self._items.pop(0)

    def extend(self, items):
        for item in list(items):
            self.append(item)

    def extendleft(self, items):
        for item in list(items):
            self.appendleft(item)

    def rotate(self, n=1):
        for _ in range(n % len(self._items) if self._items else 0):
            self._items.insert(0, self._items.pop())

    def insert(self, i, item):
        if self.maxlen is not None and len(self._items) >= self.maxlen:
            raise IndexError("deque already at its maximum size")
        self._items.insert(i, item)

    def remove(self, item):
        if item not in self._items:
            raise ValueError("deque.remove(x): x not in deque")
        self._items.remove(item)

    def clear(self):
        self._items.clear()

    def reverse(self):
        self._items.reverse()

    def copy(self):
        return deque(self._items, self.maxlen)

    def count(self, item):
        return self._items.count(item)

    def index(self, item, *bounds):
        return self._items.index(item, *bounds)

    def __len__(self):
        return len(self._items)

    def __bool__(self):
        return len(self._items) > 0

    def __iter__(self):
        return iter(self._items)

    def __reversed__(self):
        return iter(self._items[::-1])

    def __contains__(self, item):
        return item in self._items

    def _place(self, i):
        if not isinstance(i, int):
            raise TypeError(f"sequence index must be integer, not '{type(i).__name__}'")
        if not -len(self._items) <= i < len(self._items):
            raise IndexError("deque index out of range")
        return i

    def __getitem__(self, i):
        return self._items[self._place(i)]

    def __setitem__(self, i, item):
        self._items[self._place(i)] = item

    def __delitem__(self, i):
        del self._items[self._place(i)]

    def __eq__(self, other):
        return self._items == other._items if isinstance(other, deque) else NotImplemented

    def __lt__(self, other):
        return self._items < other._items if isinstance(other, deque) else NotImplemented

    def __le__(self, other):
        return self._items <= other._items if isinstance(other, deque) else NotImplemented

    def __gt__(self, other):
        return self._items > other._items if isinstance(other, deque) else NotImplemented

    def __ge__(self, other):
        return self._items >= other._items if isinstance(other, deque) else NotImplemented

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __mul__(self, n):
        return deque(self._items * n, self.maxlen)

    def __rmul__(self, n):
        return deque(self._items * n, self.maxlen)

    def __copy__(self):
        return deque(self._items, self.maxlen)

    def __add__(self, other):
        if not isinstance(other, deque):
            raise TypeError(f'can only concatenate deque (not "{type(other).__name__}") to deque')
        return deque(self._items + other._items, self.maxlen)

    def __repr__(self):
        return f"deque({self._items!r})" if self.maxlen is None else f"deque({self._items!r}, maxlen={self.maxlen})"


class _Named(tuple):
    _fields = ()

    def __new__(cls, *args, **kwargs):
        values = list(args)
        if len(values) > len(cls._fields):
            raise TypeError(f"{cls.__name__}() takes {len(cls._fields)} positional arguments but {len(values)} were given")
        for name in cls._fields[len(values):]:
            if name in kwargs:
                values.append(kwargs.pop(name))
            elif name in cls._field_defaults:
                values.append(cls._field_defaults[name])
            else:
                raise TypeError(f"{cls.__name__}() missing required argument: '{name}'")
        if kwargs:
            raise TypeError(f"{cls.__name__}() got an unexpected keyword argument '{list(kwargs)[0]}'")
        return tuple.__new__(cls, values)

    def __getattr__(self, name):
        if name in self._fields:
            return self[self._fields.index(name)]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __repr__(self):
        return type(self).__name__ + "(" + ", ".join([f"{n}={v!r}" for n, v in zip(self._fields, self)]) + ")"

    def _asdict(self):
        return dict(zip(self._fields, self))

    def _replace(self, **kwargs):
        for name in kwargs:
            if name not in self._fields:
                raise ValueError(f"Got unexpected field names: {[n for n in kwargs if n not in self._fields]!r}")
        return type(self)(*[kwargs.get(n, v) for n, v in zip(self._fields, self)])

    @classmethod
    def _make(cls, values):
        values = tuple(values)
        if len(values) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(values)}")
        return cls(*values)


_keywords = ("False None True and as assert async await break class continue def del elif else except finally for from global if import in is "
             "lambda nonlocal not or pass raise return try while with yield").split()


def namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    if isinstance(field_names, str):
        field_names = field_names.replace(",", " ").split()
    names = [str(name) for name in field_names]
    for i, name in enumerate(names):
        bad = not name.isidentifier() or name in _keywords or name.startswith("_") or name in names[:i]
        if bad and not rename:
            raise ValueError(f"Type names and field names must be valid identifiers that are no keywords, start with no underscore and are there once: {name!r}")
        if bad:
            names[i] = f"_{i}"
    names = tuple(names)
    if defaults is not None and len(tuple(defaults)) > len(names):
        raise TypeError("Got more default values than field names")
    given = {} if defaults is None else dict(zip(names[len(names) - len(defaults):], defaults))

    class Named(_Named):
        _fields = names
        _field_defaults = given

    Named.__name__ = typename
    return Named
