# functools, as far as model code uses it.


class partial:
    def __init__(self, func, *args, **keywords):
        if isinstance(func, partial):
            args = func.args + args
            merged = dict(func.keywords)
            merged.update(keywords)
            keywords = merged
            func = func.func
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, *args, **keywords):
        merged = dict(self.keywords)
        merged.update(keywords)
        return self.func(*self.args, *args, **merged)


_nothing = object()


def reduce(function, sequence, initial=_nothing):
    it = iter(sequence)
    if initial is _nothing:
        value = next(it, _nothing)
        if value is _nothing:
            raise TypeError("reduce() of empty iterable with no initial value")
    else:
        value = initial
    for item in it:
        value = function(value, item)
    return value


WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__")


def wraps(wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=("__dict__",)):
    def decorate(wrapper):
        wrapper.__wrapped__ = wrapped
        wrapper.__name__ = getattr(wrapped, "__name__", "wrapper")
        return wrapper

    return decorate


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=("__dict__",)):
    return wraps(wrapped)(wrapper)


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return _Cache(maxsize, 128, typed)
    if maxsize is not None and not isinstance(maxsize, int):
        raise TypeError("Expected first argument to be an integer, a callable, or None")
    return lambda func: _Cache(func, maxsize if maxsize is None else max(maxsize, 0), typed)


def cache(func):
    return _Cache(func, None, False)


def _plain(value):
    if isinstance(value, tuple):
        return all(_plain(v) for v in value)
    return value is None or isinstance(value, (bool, int, float, str))


def _remember(func, maxsize, typed):
    # An entry whose key or value is not plain (`fleeting`) is dropped when the judged call ends: no call sees objects of an
    # earlier one. Plain entries tell nothing about earlier calls. The least recently used entry is first.
    known, fleeting, last = {}, {}, {}

    def forget(entry):
        for key in list(fleeting):
            known.pop(key, None)
        fleeting.clear()
        last["entry"] = entry

    def call(args, keywords):
        entry = functools._entry()
        if last.get("entry") != entry:
            forget(entry)
        if maxsize == 0:
            return func(*args, **keywords)
        key = (args, tuple(keywords.items()))
        if typed:
            key += (tuple([type(v) for v in args]), tuple([type(v) for v in keywords.values()]))
        elif not keywords and len(args) == 1 and type(args[0]) in (int, str):
            key = args[0]                       # as CPython: f(1) and f(1.0) differ here, unlike f(1, 2) and f(1.0, 2)
        if key in known:
            value = known.pop(key)
            known[key] = value
            return value
        value = func(*args, **keywords)
        if key not in known and maxsize is not None and len(known) >= maxsize:
            del known[next(iter(known))]
        known[key] = value
        if entry and not (_plain(value) and _plain((args, tuple(keywords.items())))):
            fleeting[key] = None
        return value

    return call


class _Cache:
    def __init__(self, func, maxsize, typed):
        self._call = _remember(func, maxsize, typed)
        self.__wrapped__ = func

    def __call__(self, *args, **keywords):
        return self._call(args, keywords)

    def __get__(self, instance, owner):
        return self if instance is None else partial(self, instance)

    def cache_clear(self):
        pass


class cached_property:
    def __init__(self, func):
        self.func = func

    def __get__(self, instance, owner):
        if instance is None:
            return self
        value = self.func(instance)
        instance.__dict__[self.func.__name__] = value
        return value


def total_ordering(cls):
    torch.library._missing("functools.total_ordering")


def cmp_to_key(compare):
    class Key:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return compare(self.value, other.value) < 0

        def __gt__(self, other):
            return compare(self.value, other.value) > 0

        def __eq__(self, other):
            return compare(self.value, other.value) == 0

        def __le__(self, other):
            return compare(self.value, other.value) <= 0

        def __ge__(self, other):
            return compare(self.value, other.value) >= 0

    return Key


def singledispatch(func):
    torch.library._missing("functools.singledispatch")
