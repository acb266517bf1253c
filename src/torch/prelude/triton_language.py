# triton.language as the host sees it: types and kernel functions are names, constexpr is a box.


class constexpr:
    def __init__(self, value):
        self.value = value.value if isinstance(value, constexpr) else value

    def __repr__(self):
        return f"constexpr[{self.value}]"

    def __index__(self):
        return self.value

    def __int__(self):
        return int(self.value)

    def __float__(self):
        return float(self.value)

    def __bool__(self):
        return bool(self.value)

    def __eq__(self, other):
        return self.value == _value(other)

    def __hash__(self):
        return hash(self.value)

    def __lt__(self, other):
        return self.value < _value(other)

    def __gt__(self, other):
        return self.value > _value(other)

    def __le__(self, other):
        return self.value <= _value(other)

    def __ge__(self, other):
        return self.value >= _value(other)

    def __add__(self, other):
        return constexpr(self.value + _value(other))

    def __radd__(self, other):
        return constexpr(_value(other) + self.value)

    def __sub__(self, other):
        return constexpr(self.value - _value(other))

    def __rsub__(self, other):
        return constexpr(_value(other) - self.value)

    def __mul__(self, other):
        return constexpr(self.value * _value(other))

    def __rmul__(self, other):
        return constexpr(_value(other) * self.value)

    def __truediv__(self, other):
        return constexpr(self.value / _value(other))

    def __floordiv__(self, other):
        return constexpr(self.value // _value(other))

    def __rfloordiv__(self, other):
        return constexpr(_value(other) // self.value)

    def __mod__(self, other):
        return constexpr(self.value % _value(other))

    def __pow__(self, other):
        return constexpr(self.value ** _value(other))

    def __neg__(self):
        return constexpr(-self.value)


def _value(x):
    return x.value if isinstance(x, constexpr) else x
