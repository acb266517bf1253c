# collections.


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


class Counter(dict):
    def __init__(self, iterable=None, **kwargs):
        super().__init__()
        self.update(iterable, **kwargs)

    def __missing__(self, key):
        return 0

    def update(self, iterable=None, **kwargs):
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
        return items if n is None else items[:n]

    def elements(self):
        return iter([key for key, n in self.items() for _ in range(n)])

    def total(self):
        return sum(self.values())


class deque(list):
    def __init__(self, iterable=(), maxlen=None):
        super().__init__()
        self.maxlen = maxlen
        for item in iterable:
            self.append(item)

    def append(self, item):
        super().append(item)
        if self.maxlen is not None and len(self) > self.maxlen:
            super().pop(0)

    def appendleft(self, item):
        super().insert(0, item)
        if self.maxlen is not None and len(self) > self.maxlen:
            super().pop()

    def popleft(self):
        if not len(self):
            raise IndexError("pop from an empty deque")
        return super().pop(0)

    def extendleft(self, items):
        for item in items:
            self.appendleft(item)

    def rotate(self, n=1):
        for _ in range(n % len(self) if len(self) else 0):
            self.appendleft(self.pop())


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
        return type(self)(*[kwargs.get(n, v) for n, v in zip(self._fields, self)])

    @classmethod
    def _make(cls, values):
        return cls(*values)


def namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    if isinstance(field_names, str):
        field_names = field_names.replace(",", " ").split()
    names = tuple(field_names)
    given = {} if defaults is None else dict(zip(names[len(names) - len(defaults):], defaults))

    class Named(_Named):
        _fields = names
        _field_defaults = given

    Named.__name__ = typename
    return Named
