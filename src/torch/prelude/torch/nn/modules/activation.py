# torch.nn: activations. Each holds its parameters and calls the function of its name.


class _Activation(Module):
    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return getattr(_F, self._name)(input, inplace=self.inplace)


class ReLU(_Activation):
    _name = "relu"


class ReLU6(_Activation):
    _name = "relu6"
    min_val = 0.0
    max_val = 6.0


class SELU(_Activation):
    _name = "selu"


class SiLU(_Activation):
    _name = "silu"


class Mish(_Activation):
    _name = "mish"


class Hardswish(_Activation):
    _name = "hardswish"


class Hardsigmoid(_Activation):
    _name = "hardsigmoid"


class _Plain(Module):
    def forward(self, input):
        return getattr(torch, self._name)(input)


class Sigmoid(_Plain):
    _name = "sigmoid"


class Tanh(_Plain):
    _name = "tanh"


class LogSigmoid(Module):
    def forward(self, input):
        return _F.logsigmoid(input)


class Tanhshrink(Module):
    def forward(self, input):
        return _F.tanhshrink(input)


class Softsign(Module):
    def forward(self, input):
        return _F.softsign(input)


class GELU(Module):
    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return _F.gelu(input, approximate=self.approximate)


class ELU(Module):
    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input):
        return _F.elu(input, self.alpha, self.inplace)


class CELU(Module):
    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input):
        return _F.celu(input, self.alpha, self.inplace)


class LeakyReLU(Module):
    def __init__(self, negative_slope=1e-2, inplace=False):
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input):
        return _F.leaky_relu(input, self.negative_slope, self.inplace)


class RReLU(Module):
    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input):
        return _F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class PReLU(Module):
    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(torch.empty(num_parameters, device=device, dtype=dtype))
        torch.nn.init.constant_(self.weight, init)

    def forward(self, input):
        return _F.prelu(input, self.weight)


class Hardtanh(Module):
    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        super().__init__()
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        assert self.max_val > self.min_val, f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})"

    def forward(self, input):
        return _F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class Softplus(Module):
    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input):
        return _F.softplus(input, self.beta, self.threshold)


class Softshrink(Module):
    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, input):
        return _F.softshrink(input, self.lambd)


class Hardshrink(Module):
    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, input):
        return _F.hardshrink(input, self.lambd)


class Threshold(Module):
    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input):
        return _F.threshold(input, self.threshold, self.value, self.inplace)


class GLU(Module):
    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return _F.glu(input, self.dim)


class _AlongDim(Module):
    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        dim = self.dim
        if dim is None:
            dim = 0 if input.dim() in (0, 1, 3) else 1
        return getattr(_F, self._name)(input, dim)


class Softmax(_AlongDim):
    _name = "softmax"


class Softmin(_AlongDim):
    _name = "softmin"


class LogSoftmax(_AlongDim):
    _name = "log_softmax"


class Softmax2d(Module):
    def forward(self, input):
        return _F.softmax(input, -3)
