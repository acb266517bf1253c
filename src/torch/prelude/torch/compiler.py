# torch.compiler: programs run as they are written, so instructions to the compiler have no effect.


def disable(fn=None, recursive=True, *, reason=None):
    return fn if fn is not None else lambda f: f


def allow_in_graph(fn):
    return fn


def assume_constant_result(fn):
    return fn


def reset():
    pass


def cudagraph_mark_step_begin():
    pass
