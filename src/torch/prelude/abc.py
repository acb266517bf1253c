# abc: a class with an abstract method left cannot be instantiated.


class ABCMeta:
    pass


class ABC:
    def __new__(cls, *args, **kwargs):
        missing = sorted({name for c in cls.__mro__ for name, member in c.__dict__.items() if _is_abstract(member) and getattr(cls, name) is member})
        if missing:
            s = "s" if len(missing) > 1 else ""
            raise TypeError(f"Can't instantiate abstract class {cls.__name__} with abstract method{s} " + ", ".join(missing))
        return object.__new__(cls)


def _is_abstract(member):
    return type(member) is type(_is_abstract) and "__isabstractmethod__" in member.__dict__


def abstractmethod(func):
    if type(func) is not type(_is_abstract):
        raise NotImplementedError("abstractmethod of what is no function")
    func.__isabstractmethod__ = True
    return func


def abstractproperty(func):
    raise NotImplementedError("abc.abstractproperty")


def abstractclassmethod(func):
    raise NotImplementedError("abc.abstractclassmethod")


def abstractstaticmethod(func):
    raise NotImplementedError("abc.abstractstaticmethod")
