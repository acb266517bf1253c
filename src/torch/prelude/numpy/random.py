# numpy.random: the functions of the one legacy generator, with the same draws. An unseeded generator
# starts from 0, so programs are reproducible.


def _shaped(t, size):
    if size is None:
        return t[0].item()
    return numpy.ndarray(t.reshape((size,) if isinstance(size, int) else tuple(size)))


def _count(size):
    return 1 if size is None else size if isinstance(size, int) else math.prod(size)


def random_sample(size=None):
    return _shaped(numpy.random._doubles(_count(size)), size)


def random(size=None):
    return random_sample(size)


def rand(*size):
    return random_sample(size or None)


def uniform(low=0.0, high=1.0, size=None):
    return low + (high - low) * random_sample(size)


class _Normal:
    """Marsaglia's polar method: values come in pairs, and the second one is kept."""

    spare = None

    def next(self):
        if self.spare is not None:
            numpy.random._doubles(0)    # using up the kept value counts as a draw
            x, self.spare = self.spare, None
            return x
        while True:
            a, b = [2.0 * v - 1.0 for v in numpy.random._doubles(2).tolist()]
            r = a * a + b * b
            if 0.0 < r < 1.0:
                break
        f = math.sqrt(-2.0 * math.log(r) / r)
        self.spare = f * a
        return f * b


_normal = _Normal()


def seed(seed=None):
    _normal.spare = None
    numpy.random._seed(seed)


def standard_normal(size=None):
    return _shaped(torch.tensor([_normal.next() for _ in range(_count(size))], dtype=torch.float64), size)


def randn(*size):
    return standard_normal(size or None)


def normal(loc=0.0, scale=1.0, size=None):
    return loc + scale * standard_normal(size)


def randint(low, high=None, size=None, dtype=None):
    low, high = (0, low) if high is None else (low, high)
    return _shaped(low + numpy.random._up_to(int(high) - int(low) - 1, _count(size)), size)


def shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = int(numpy.random._up_to(i, 1))
        if isinstance(x, list):
            x[i], x[j] = x[j], x[i]
        elif i != j:
            kept = x[i].copy()
            x[i] = x[j]
            x[j] = kept


def permutation(x):
    order = list(range(x)) if isinstance(x, int) else list(range(len(x)))
    shuffle(order)
    return numpy.array(order) if isinstance(x, int) else numpy.array(x)[order]


def choice(a, size=None, replace=True, p=None):
    n = a if isinstance(a, int) else len(a)
    count = _count(size)
    if not n:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if p is not None:
        if not replace:
            raise NotImplementedError("numpy.random.choice without replacement, with probabilities")
        edges = torch.cumsum(torch.as_tensor(numpy.asarray(p, float)), 0)
        index = torch.searchsorted(edges / edges[-1], numpy.random._doubles(count), right=True)
    elif replace:
        index = numpy.random._up_to(n - 1, count)
    elif count > n:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    else:
        index = torch.as_tensor(permutation(n))[:count]
    index = _shaped(index, size)
    return index if isinstance(a, int) else numpy.asarray(a)[index]
