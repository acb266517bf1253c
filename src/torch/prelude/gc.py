# gc: a program that collects garbage sees no difference. Everything that looks at objects is missing.


def collect(generation=2):
    if generation not in (0, 1, 2):
        raise ValueError("invalid generation")
    return 0


def enable():
    pass


def disable():
    pass
