# itertools: finite iterators are lists walked once; count, cycle and repeat are lazy.


class count:
    def __init__(self, start=0, step=1):
        self.value = start
        self.step = step

    def __iter__(self):
        return self

    def __next__(self):
        value = self.value
        self.value += self.step
        return value


class repeat:
    def __init__(self, object, times=None):
        self.object = object
        self.times = times

    def __iter__(self):
        return self

    def __next__(self):
        if self.times is not None:
            if self.times <= 0:
                raise StopIteration
            self.times -= 1
        return self.object


class cycle:
    def __init__(self, iterable):
        self.items = list(iterable)
        self.at = 0

    def __iter__(self):
        return self

    def __next__(self):
        if not self.items:
            raise StopIteration
        item = self.items[self.at % len(self.items)]
        self.at += 1
        return item


class _chain:
    def __call__(self, *iterables):
        return self.from_iterable(iterables)

    def from_iterable(self, iterables):
        return iter([item for iterable in iterables for item in iterable])


chain = _chain()


def islice(iterable, start, stop=-1, step=1):
    if stop == -1:
        start, stop = 0, start
    if step is None:
        step = 1
    if start is None:
        start = 0
    result = []
    it = iter(iterable)
    at = 0
    while stop is None or at < stop:
        try:
            item = next(it)
        except StopIteration:
            break
        if at >= start and (at - start) % step == 0:
            result.append(item)
        at += 1
    return iter(result)


def product(*iterables, repeat=1):
    pools = [tuple(p) for p in iterables] * repeat
    result = [()]
    for pool in pools:
        result = [x + (y,) for x in result for y in pool]
    return iter(result)


def combinations(iterable, r):
    pool = tuple(iterable)

    def choose(start, r):
        if r == 0:
            return [()]
        return [(pool[i],) + rest for i in range(start, len(pool)) for rest in choose(i + 1, r - 1)]

    return iter(choose(0, r))


def combinations_with_replacement(iterable, r):
    pool = tuple(iterable)

    def choose(start, r):
        if r == 0:
            return [()]
        return [(pool[i],) + rest for i in range(start, len(pool)) for rest in choose(i, r - 1)]

    return iter(choose(0, r))


def permutations(iterable, r=None):
    pool = tuple(iterable)
    if r is None:
        r = len(pool)

    def choose(used, r):
        if r == 0:
            return [()]
        return [(pool[i],) + rest for i in range(len(pool)) if i not in used for rest in choose(used + (i,), r - 1)]

    return iter(choose((), r))


def accumulate(iterable, func=None, *, initial=None):
    result = []
    have = initial is not None
    total = initial
    if have:
        result.append(total)
    for item in iterable:
        if not have:
            total, have = item, True
        else:
            total = total + item if func is None else func(total, item)
        result.append(total)
    return iter(result)


def zip_longest(*iterables, fillvalue=None):
    lists = [list(x) for x in iterables]
    n = max([len(x) for x in lists]) if lists else 0
    return iter([tuple([x[i] if i < len(x) else fillvalue for x in lists]) for i in range(n)])


def takewhile(predicate, iterable):
    result = []
    for item in iterable:
        if not predicate(item):
            break
        result.append(item)
    return iter(result)


def dropwhile(predicate, iterable):
    result = []
    dropping = True
    for item in iterable:
        if dropping and predicate(item):
            continue
        dropping = False
        result.append(item)
    return iter(result)


def filterfalse(predicate, iterable):
    return iter([x for x in iterable if not (x if predicate is None else predicate(x))])


def starmap(function, iterable):
    return iter([function(*args) for args in iterable])


def compress(data, selectors):
    return iter([d for d, s in zip(data, selectors) if s])


def pairwise(iterable):
    items = list(iterable)
    return iter([(items[i], items[i + 1]) for i in range(len(items) - 1)])


def tee(iterable, n=2):
    items = list(iterable)
    return tuple([iter(items) for _ in range(n)])


def groupby(iterable, key=None):
    result = []
    for item in iterable:
        k = item if key is None else key(item)
        if result and result[-1][0] == k:
            result[-1][1].append(item)
        else:
            result.append((k, [item]))
    return iter([(k, iter(group)) for k, group in result])
