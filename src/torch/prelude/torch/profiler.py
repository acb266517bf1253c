# torch.profiler and torch.autograd.profiler: marks in a trace, which nobody records here.


class record_function:
    def __init__(self, name, args=None):
        if not isinstance(name, str):
            raise TypeError("record_function takes a name")
        self.name, self.args = name, args

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None

    def __call__(self, func):
        return func
