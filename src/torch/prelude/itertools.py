# itertools: iterators take elements from their sources only when asked.


class _Iterator:
    def __iter__(self):
        return self


class count(_Iterator):
    def __init__(self, start=0, step=1):
        self._value = start
        self._step = step

    def __next__(self):
        value = self._value
        self._value += self._step
        return value

    def __repr__(self):
        return f"count({self._value!r})" if self._step == 1 and isinstance(self._step, int) else f"count({self._value!r}, {self._step!r})"


class repeat(_Iterator):
    def __init__(self, object, times=None):
        self._object = object
        self._times = times if times is None else max(times, 0)

    def __next__(self):
        if self._times is not None:
            if self._times <= 0:
                raise StopIteration
            self._times -= 1
        return self._object

    def __len__(self):
        if self._times is None:
            raise TypeError("len() of unsized object")
        torch.library._missing("len() of itertools.repeat")

    def __bool__(self):
        return True

    def __repr__(self):
        return f"repeat({self._object!r})" if self._times is None else f"repeat({self._object!r}, {self._times})"


class cycle(_Iterator):
    def __init__(self, iterable):
        self._it = iter(iterable)
        self._saved = []
        self._at = -1

    def __next__(self):
        if self._at < 0:
            for item in self._it:
                self._saved.append(item)
                return item
            self._at = 0
        if not self._saved:
            raise StopIteration
        item = self._saved[self._at]
        self._at = (self._at + 1) % len(self._saved)
        return item


class chain(_Iterator):
    def __init__(self, *iterables):
        self._sources = iter(iterables)
        self._it = None

    @staticmethod
    def from_iterable(iterables):
        made = chain()
        made._sources = iter(iterables)
        return made

    def __next__(self):
        while True:
            if self._it is None:
                self._it = iter(next(self._sources))
            for item in self._it:
                return item
            self._it = None


class islice(_Iterator):
    def __init__(self, iterable, *bounds):
        s = slice(*bounds)
        start, stop, step = s.start or 0, s.stop, 1 if s.step is None else s.step
        for n in (start, stop):
            if n is not None and (not isinstance(n, int) or n < 0):
                raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
        if not isinstance(step, int) or step < 1:
            raise ValueError("Step for islice() must be a positive integer or None.")
        self._it = iter(iterable)
        self._next = start
        self._end = stop
        self._stop = stop if stop is None else max(start, stop)
        self._step = step
        self._at = 0

    def __next__(self):
        while self._stop is None or self._at < self._stop:
            item = next(self._it)
            self._at += 1
            if self._at - 1 == self._next and (self._end is None or self._next < self._end):
                self._next += self._step
                return item
        raise StopIteration


def product(*iterables, repeat=1):
    pools = [tuple(p) for p in iterables] * repeat
    result = [()]
    for pool in pools:
        result = [x + (y,) for x in result for y in pool]
    return iter(result)


def combinations(iterable, r):
    pool = tuple(iterable)
    if r < 0:
        raise ValueError("r must be non-negative")

    def choose(start, r):
        if r == 0:
            return [()]
        return [(pool[i],) + rest for i in range(start, len(pool)) for rest in choose(i + 1, r - 1)]

    return iter(choose(0, r))


def combinations_with_replacement(iterable, r):
    pool = tuple(iterable)
    if r < 0:
        raise ValueError("r must be non-negative")

    def choose(start, r):
        if r == 0:
            return [()]
        return [(pool[i],) + rest for i in range(start, len(pool)) for rest in choose(i, r - 1)]

    return iter(choose(0, r))


def permutations(iterable, r=None):
    pool = tuple(iterable)
    if r is None:
        r = len(pool)
    if r < 0:
        raise ValueError("r must be non-negative")

    def choose(used, r):
        if r == 0:
            return [()]
        return [(pool[i],) + rest for i in range(len(pool)) if i not in used for rest in choose(used + (i,), r - 1)]

    return iter(choose((), r))


class accumulate(_Iterator):
    def __init__(self, iterable, func=None, *, initial=None):
        self._it = iter(iterable)
        self._func = func
        self._total = initial
        self._state = "initial" if initial is not None else "first"

    def __next__(self):
        if self._state == "initial":
            self._state = "rest"
            return self._total
        item = next(self._it)
        if self._state == "first":
            self._state = "rest"
            self._total = item
        else:
            self._total = self._total + item if self._func is None else self._func(self._total, item)
        return self._total


class zip_longest(_Iterator):
    def __init__(self, *iterables, fillvalue=None):
        self._its = [iter(x) for x in iterables]
        self._left = len(iterables)
        self._fill = fillvalue

    def __next__(self):
        if not self._left:
            raise StopIteration
        values = []
        for i, it in enumerate(self._its):
            value = self._fill
            if it is not None:
                found = False
                for value in it:
                    found = True
                    break
                if not found:
                    self._left -= 1
                    if not self._left:
                        raise StopIteration
                    self._its[i] = None
                    value = self._fill
            values.append(value)
        return tuple(values)


class _Chooser(_Iterator):
    def __init__(self, predicate, iterable):
        self._predicate = predicate
        self._it = iter(iterable)


class takewhile(_Chooser):
    def __next__(self):
        if self._it is None:
            raise StopIteration
        item = next(self._it)
        if self._predicate(item):
            return item
        self._it = None
        raise StopIteration


class dropwhile(_Chooser):
    def __next__(self):
        while True:
            item = next(self._it)
            if self._predicate is None:
                return item
            if not self._predicate(item):
                self._predicate = None
                return item


class filterfalse(_Chooser):
    def __next__(self):
        while True:
            item = next(self._it)
            if not (item if self._predicate is None else self._predicate(item)):
                return item


class starmap(_Iterator):
    def __init__(self, function, iterable):
        self._function = function
        self._it = iter(iterable)

    def __next__(self):
        return self._function(*next(self._it))


class compress(_Iterator):
    def __init__(self, data, selectors):
        self._data = iter(data)
        self._selectors = iter(selectors)

    def __next__(self):
        while True:
            item = next(self._data)
            if next(self._selectors):
                return item


class pairwise(_Iterator):
    def __init__(self, iterable):
        self._it = iter(iterable)
        self._started = False

    def __next__(self):
        if not self._started:
            self._last = next(self._it)
            self._started = True
        first = self._last
        self._last = next(self._it)
        return first, self._last


class _Tee(_Iterator):
    def __init__(self, it, seen):
        self._it = it
        self._seen = seen
        self._at = 0

    def __next__(self):
        if self._at == len(self._seen):
            self._seen.append(next(self._it))
        self._at += 1
        return self._seen[self._at - 1]


def tee(iterable, n=2):
    it, seen = iter(iterable), []
    return tuple([_Tee(it, seen) for _ in range(n)])


class _Group(_Iterator):
    def __init__(self, parent, key):
        self._parent = parent
        self._key = key

    def __next__(self):
        return self._parent._member(self)


class groupby(_Iterator):
    def __init__(self, iterable, key=None):
        self._it = iter(iterable)
        self._keyfunc = key
        self._keyed = False
        self._targeted = False
        self._held = False
        self._group = None

    def _step(self):
        self._value = next(self._it)
        self._key = self._value if self._keyfunc is None else self._keyfunc(self._value)
        self._keyed = True
        self._held = True

    def __next__(self):
        self._group = None
        while not self._keyed or (self._targeted and self._target == self._key):
            self._step()
        self._targeted = True
        self._target = self._key
        self._group = _Group(self, self._key)
        return self._key, self._group

    def _member(self, group):
        if self._group is not group:
            raise StopIteration
        if not self._held:
            self._step()
        if not group._key == self._key:
            raise StopIteration
        self._held = False
        return self._value
