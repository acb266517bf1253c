# torch.nn: padding with a constant, by reflection, by replication and in a circle.


class _Pad(Module):
    mode = "constant"
    dims = 2
    value = 0.0

    def __init__(self, padding):
        super().__init__()
        self.padding = _tuple(padding, 2 * self.dims)

    def forward(self, input):
        return _F.pad(input, self.padding, self.mode, self.value)


class _ConstantPad(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value


class ConstantPad1d(_ConstantPad):
    dims = 1


class ConstantPad2d(_ConstantPad):
    dims = 2


class ConstantPad3d(_ConstantPad):
    dims = 3


class ZeroPad1d(_Pad):
    dims = 1


class ZeroPad2d(_Pad):
    dims = 2


class ZeroPad3d(_Pad):
    dims = 3


class ReflectionPad1d(_Pad):
    mode = "reflect"
    dims = 1


class ReflectionPad2d(_Pad):
    mode = "reflect"
    dims = 2


class ReflectionPad3d(_Pad):
    mode = "reflect"
    dims = 3


class ReplicationPad1d(_Pad):
    mode = "replicate"
    dims = 1


class ReplicationPad2d(_Pad):
    mode = "replicate"
    dims = 2


class ReplicationPad3d(_Pad):
    mode = "replicate"
    dims = 3


class CircularPad1d(_Pad):
    mode = "circular"
    dims = 1


class CircularPad2d(_Pad):
    mode = "circular"
    dims = 2


class CircularPad3d(_Pad):
    mode = "circular"
    dims = 3
