# abc: abstract methods are not enforced.


class ABCMeta:
    pass


class ABC:
    pass


def abstractmethod(func):
    return func


def abstractproperty(func):
    return property(func)


def abstractclassmethod(func):
    return classmethod(func)


def abstractstaticmethod(func):
    return staticmethod(func)
