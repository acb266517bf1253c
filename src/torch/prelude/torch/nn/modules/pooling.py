# torch.nn: max, average, adaptive and power-average pooling, and the inverse of max pooling.


class _MaxPool(Module):
    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input):
        pool = getattr(_F, self._name)
        return pool(input, self.kernel_size, self.stride, self.padding, self.dilation,
                    ceil_mode=self.ceil_mode, return_indices=self.return_indices)


class MaxPool1d(_MaxPool):
    _name = "max_pool1d"


class MaxPool2d(_MaxPool):
    _name = "max_pool2d"


class MaxPool3d(_MaxPool):
    _name = "max_pool3d"


class AvgPool1d(Module):
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__()
        self.kernel_size = _tuple(kernel_size, 1)
        self.stride = _tuple(stride if stride is not None else kernel_size, 1)
        self.padding = _tuple(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input):
        return _F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPool(Module):
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input):
        pool = getattr(_F, self._name)
        return pool(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override)


class AvgPool2d(_AvgPool):
    _name = "avg_pool2d"


class AvgPool3d(_AvgPool):
    _name = "avg_pool3d"


class _AdaptivePool(Module):
    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input):
        pool = getattr(_F, self._name)
        if self.return_indices:
            return pool(input, self.output_size, True)
        return pool(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptivePool):
    _name = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptivePool):
    _name = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptivePool):
    _name = "adaptive_avg_pool3d"


class AdaptiveMaxPool1d(_AdaptivePool):
    _name = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptivePool):
    _name = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptivePool):
    _name = "adaptive_max_pool3d"


class _LPPool(Module):
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input):
        return getattr(_F, self._name)(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPool):
    _name = "lp_pool1d"


class LPPool2d(_LPPool):
    _name = "lp_pool2d"


class _MaxUnpool(Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding


class MaxUnpool1d(_MaxUnpool):
    def forward(self, input, indices, output_size=None):
        return functional.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpool):
    def forward(self, input, indices, output_size=None):
        return functional.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpool):
    def forward(self, input, indices, output_size=None):
        return functional.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)
