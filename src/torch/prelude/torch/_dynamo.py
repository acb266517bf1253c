# torch._dynamo: no effect, as torch.compiler.


def disable(fn=None, recursive=True, *, reason=None, wrapping=True):
    return fn if fn is not None else lambda f: f


def allow_in_graph(fn):
    return fn


def mark_dynamic(t, index, **kwargs):
    pass


def reset():
    pass
