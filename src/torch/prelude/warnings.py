# warnings: shown as print shows things. Filters that turn warnings into errors are refused.


def _check(action, lineno):
    assert action in ("error", "ignore", "always", "default", "module", "once"), f"invalid action: {action!r}"
    assert isinstance(lineno, int) and lineno >= 0, "lineno must be an int >= 0"
    if action == "error":
        raise NotImplementedError("warnings that are errors")


def warn(message, category=None, stacklevel=1, source=None):
    if isinstance(message, Warning):
        category = type(message)
    elif category is None:
        category = UserWarning
    if not isinstance(category, type) or not issubclass(category, Warning):
        raise TypeError(f"category must be a Warning subclass, not '{type(category).__name__}'")
    if not isinstance(stacklevel, int):
        raise TypeError(f"'{type(stacklevel).__name__}' object cannot be interpreted as an integer")
    print(message)


def filterwarnings(action, message="", category=Warning, module="", lineno=0, append=False):
    assert isinstance(message, str), "message must be a string"
    assert isinstance(category, type), "category must be a class"
    assert issubclass(category, Warning), "category must be a Warning subclass"
    assert isinstance(module, str), "module must be a string"
    _check(action, lineno)


def simplefilter(action, category=Warning, lineno=0, append=False):
    _check(action, lineno)


class catch_warnings:
    def __init__(self, *, record=False, module=None):
        pass

    def __enter__(self):
        return []

    def __exit__(self, kind, value, trace):
        return None
