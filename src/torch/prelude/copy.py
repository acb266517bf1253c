# copy: deepcopy is in C, because copies must keep the storages that tensors share.


def copy(x):
    if type(x) in (list, dict, set, collections.OrderedDict, collections.Counter):
        return x.copy()
    if isinstance(x, type):
        return x
    if hasattr(x, "__copy__"):
        return x.__copy__()
    if isinstance(x, (list, dict, set)):
        torch.library._missing("copy.copy of an object of a class that derives from a container")
    if isinstance(x, torch.Tensor) or not hasattr(x, "__dict__"):
        return x
    return _shallow(x)


def _shallow(x):
    y = object.__new__(type(x))
    for name, value in x.__dict__.items():
        y.__dict__[name] = value
    return y
