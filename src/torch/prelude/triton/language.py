# triton.language on the host: types and kernel functions are names, constexpr is a box around a value.

TRITON_MAX_TENSOR_NUMEL = 1048576


class constexpr:
    def __init__(self, value):
        while isinstance(value, constexpr):
            value = value.value
        self.value = value

    def __repr__(self):
        return f"constexpr[{self.value}]"

    def __index__(self):
        return self.value

    def __float__(self):
        if not isinstance(self.value, int):
            raise TypeError(f"__index__ returned non-int (type {type(self.value).__name__})")
        return float(self.value)

    def __bool__(self):
        return bool(self.value)

    def __hash__(self):
        raise NotImplementedError("the hash of a constexpr")

    def __getitem__(self, index):
        return self.value[_value(index)]

    def __iter__(self):
        return iter(self.value)

    def logical_and(self, other):
        return constexpr(self.value and _value(other))

    def logical_or(self, other):
        return constexpr(self.value or _value(other))

    def __neg__(self):
        return constexpr(-self.value)

    def __pos__(self):
        return constexpr(+self.value)

    def __invert__(self):
        return constexpr(~self.value)

    def __eq__(self, other):
        return constexpr(self.value == _value(other))

    def __ne__(self, other):
        return constexpr(self.value != _value(other))

    def __lt__(self, other):
        return constexpr(self.value < _value(other))

    def __gt__(self, other):
        return constexpr(self.value > _value(other))

    def __le__(self, other):
        return constexpr(self.value <= _value(other))

    def __ge__(self, other):
        return constexpr(self.value >= _value(other))

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

    def __rtruediv__(self, other):
        return constexpr(_value(other) / self.value)

    def __floordiv__(self, other):
        return constexpr(self.value // _value(other))

    def __rfloordiv__(self, other):
        return constexpr(_value(other) // self.value)

    def __mod__(self, other):
        return constexpr(self.value % _value(other))

    def __pow__(self, other):
        return constexpr(self.value ** _value(other))

    def __rpow__(self, other):
        return constexpr(_value(other) ** self.value)

    def __and__(self, other):
        return constexpr(self.value & _value(other))

    def __or__(self, other):
        return constexpr(self.value | _value(other))

    def __xor__(self, other):
        return constexpr(self.value ^ _value(other))

    def __lshift__(self, other):
        return constexpr(self.value << _value(other))

    def __rshift__(self, other):
        return constexpr(self.value >> _value(other))


def _value(x):
    return x.value if isinstance(x, constexpr) else x
