# torch.cuda.nvtx: marks for a profiler that nobody runs.


def range_push(msg):
    _check(msg)
    return 0


def range_pop():
    return 0


def mark(msg):
    _check(msg)


def _check(msg):
    if not isinstance(msg, str):
        raise TypeError("nvtx marks are texts")


class range:
    def __init__(self, msg, *args, **kwargs):
        _check(msg)

    def __enter__(self):
        return None

    def __exit__(self, kind, value, trace):
        return None
