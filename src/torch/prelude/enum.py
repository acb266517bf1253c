# enum: members are made when the class is.


class Enum:
    def __init_subclass__(cls, **kwargs):
        members = {}
        for name, value in cls.__dict__.items():
            if name.startswith("_") or callable(value) or isinstance(value, (property, staticmethod, classmethod)):
                continue
            if isinstance(value, auto):
                value = len(members) + 1
            member = object.__new__(cls)
            member.name = name
            member.value = value
            members[name] = member
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

    def __repr__(self):
        return f"<{type(self).__name__}.{self.name}: {self.value!r}>"

    def __str__(self):
        return f"{type(self).__name__}.{self.name}"

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self is other


class IntEnum(Enum):
    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, IntEnum) else other)

    def __hash__(self):
        return hash(self.value)

    def __lt__(self, other):
        return self.value < (other.value if isinstance(other, IntEnum) else other)

    def __int__(self):
        return self.value

    def __index__(self):
        return self.value


class auto:
    pass


def unique(cls):
    return cls
