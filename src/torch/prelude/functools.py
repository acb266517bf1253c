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
        return cache(maxsize)
    return cache


def _plain(value):
    if isinstance(value, tuple):
        return all(_plain(v) for v in value)
    return value is None or isinstance(value, (bool, int, float, str))


def _remember(func):
    # Only plain values of plain arguments, where programs cannot look them up: with them a cache
    # says nothing about earlier calls.
    known = {}

    def call(args, keywords):
        key = (args, tuple(sorted(keywords.items())))
        if not _plain(key):
            return func(*args, **keywords)
        if key in known:
            return known[key]
        value = func(*args, **keywords)
        if _plain(value):
            known[key] = value
        return value

    return call


class cache:
    def __init__(self, func):
        self._call = _remember(func)
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
    return cls


def cmp_to_key(compare):
    class Key:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return compare(self.value, other.value) < 0

    return Key


def singledispatch(func):
    raise NotImplementedError("functools.singledispatch")
