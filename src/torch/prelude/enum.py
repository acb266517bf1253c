# enum: members are made when the class is. Uses that would differ from CPython's are refused.


class Enum:
    def __init_subclass__(cls, **kwargs):
        members = {}
        last = 0
        for name, value in cls.__dict__.items():
            if name.startswith("__") and name.endswith("__"):
                _check_special(cls, name)
                continue
            if name.startswith("_"):
                torch.library._missing(f"'{name}' in an enumeration")
            if isinstance(value, (_function, property, staticmethod, classmethod)):
                continue
            if callable(value):
                torch.library._missing("a class or an object that can be called in an enumeration")
            if isinstance(value, auto):
                if not isinstance(last, (int, float)):
                    torch.library._missing("enum.auto after a value that is no number")
                value = last + 1
            last = value
            members[name] = _member(cls, name, value, members)
        for base in cls.__mro__[1:]:
            if base not in (Enum, object) and not (issubclass(base, Enum) and not base.__members__):
                torch.library._missing(f"an enumeration that is a {base.__name__}")
        for name, member in members.items():
            setattr(cls, name, member)
        cls.__members__ = members

    def __new__(cls, value):
        for member in cls.__members__.values():
            if member.value == value:
                return member
        raise ValueError(f"{value!r} is not a valid {cls.__name__}")

    def __class_getitem__(cls, name):
        return cls.__members__[name]

    def __setattr__(self, name, value):
        torch.library._missing("a member of an enumeration that is changed")

    def __repr__(self):
        return f"<{type(self).__name__}.{self.name}: {self.value!r}>"

    def __str__(self):
        return f"{type(self).__name__}.{self.name}"

    def __format__(self, spec):
        return format(str(self), spec)

    def __hash__(self):
        return hash(self.name)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __eq__(self, other):
        return self is other


def _member(cls, name, value, members):
    for other in members.values():
        if other.value == value:
            torch.library._missing("an enumeration with two names for one value")
    member = object.__new__(cls)
    object.__setattr__(member, "name", name)
    object.__setattr__(member, "value", value)
    return member


def _check_special(cls, name):
    if name in ("__init__", "__new__", "__call__", "__eq__", "__hash__", "__str__", "__repr__", "__format__"):
        torch.library._missing(f"'{name}' in an enumeration")


def _nothing():
    pass


_function = type(_nothing)


class auto:
    pass
