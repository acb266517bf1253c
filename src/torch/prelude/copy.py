# copy: deepcopy is in C, because it must keep what tensors share.


def copy(x):
    if isinstance(x, (list, dict, set)):
        return x.copy()
    if isinstance(x, torch.Tensor) or not hasattr(x, "__dict__"):
        return x
    return _shallow(x)


def _shallow(x):
    y = object.__new__(type(x))
    for name, value in x.__dict__.items():
        y.__dict__[name] = value
    return y
