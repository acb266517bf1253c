# Functions of torch whose names are builtins of Python. They are apart because the other files of torch use
# the builtins.


def range(start=0, end=None, step=1, dtype=None, device=None):
    first, last = (0, start) if end is None else (start, end)
    n = int(math.floor((last - first) / step)) + 1
    t = first + torch.arange(n, device=device) * step
    return t.to(torch.get_default_dtype() if dtype is None else dtype)
