# operator: the operators of Python as functions.


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def truediv(a, b):
    return a / b


def floordiv(a, b):
    return a // b


def mod(a, b):
    return a % b


def pow(a, b):
    return a**b


def matmul(a, b):
    return a @ b


def neg(a):
    return -a


def eq(a, b):
    return a == b


def ne(a, b):
    return a != b


def lt(a, b):
    return a < b


def le(a, b):
    return a <= b


def gt(a, b):
    return a > b


def ge(a, b):
    return a >= b


def getitem(a, b):
    return a[b]


def itemgetter(*items):
    if len(items) == 1:
        return lambda obj: obj[items[0]]
    return lambda obj: tuple([obj[i] for i in items])


def _attribute(obj, path):
    for name in path.split("."):
        obj = getattr(obj, name)
    return obj


def attrgetter(*names):
    if len(names) == 1:
        return lambda obj: _attribute(obj, names[0])
    return lambda obj: tuple([_attribute(obj, n) for n in names])


def pos(a):
    return +a


def and_(a, b):
    return a & b


def or_(a, b):
    return a | b


def xor(a, b):
    return a ^ b


def not_(a):
    return not a


def truth(a):
    return True if a else False


def is_(a, b):
    return a is b


def is_not(a, b):
    return a is not b


def invert(a):
    return ~a


inv = invert


def lshift(a, b):
    return a << b


def rshift(a, b):
    return a >> b


def contains(a, b):
    return b in a


def methodcaller(name, /, *args, **kwargs):
    return lambda obj: getattr(obj, name)(*args, **kwargs)
