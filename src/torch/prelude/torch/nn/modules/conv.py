# torch.nn: convolutions and transposed convolutions of one to three dimensions.


class _Conv(Module):
    def _setup(self, n, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode,
               transposed, output_padding, device, dtype):
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any([s != 1 for s in _tuple(stride, n)]):
                raise ValueError("padding='same' is not supported for strided convolutions")
        else:
            padding = _tuple(padding, n)
        if transposed and padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(f"padding_mode must be one of ['zeros', 'reflect', 'replicate', 'circular'], but got padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = _tuple(kernel_size, n)
        self.stride = _tuple(stride, n)
        self.padding = padding
        self.dilation = _tuple(dilation, n)
        self.transposed = transposed
        self.output_padding = _tuple(output_padding, n)
        self.groups = groups
        self.padding_mode = padding_mode
        if isinstance(padding, str):
            pads = [0, 0] * n
            if padding == "same":
                for i, (d, k) in enumerate(zip(self.dilation, self.kernel_size)):
                    total = d * (k - 1)
                    pads[2 * (n - 1 - i)] = total // 2
                    pads[2 * (n - 1 - i) + 1] = total - total // 2
            self._reversed_padding_repeated_twice = pads
        else:
            self._reversed_padding_repeated_twice = tuple([p for p in reversed(padding) for _ in range(2)])
        first, second = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(torch.empty((first, second) + self.kernel_size, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        _init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = _init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                _init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        torch.library._only_printed("what a module says of itself")
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"


_ConvNd = _Conv


class _Direct(_Conv):
    dims = 1

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        super().__init__()
        self._setup(self.dims, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode,
                    False, 0, device, dtype)

    def _conv_forward(self, input, weight, bias):
        conv = (_F.conv1d, _F.conv2d, _F.conv3d)[self.dims - 1]
        padding = self.padding
        if self.padding_mode != "zeros":
            input = _F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self.dims
        return conv(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Direct):
    dims = 1


class Conv2d(_Direct):
    dims = 2


class Conv3d(_Direct):
    dims = 3


class _Transposed(_Conv):
    dims = 1

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1, padding_mode="zeros", device=None, dtype=None):
        super().__init__()
        self._setup(self.dims, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode,
                    True, output_padding, device, dtype)

    def _output_padding(self, input, output_size, n):
        if output_size is None:
            return self.output_padding
        output_size = list(output_size)[-n:]
        result = []
        for d in range(n):
            size = input.size(d + input.dim() - n)
            least = (size - 1) * self.stride[d] - 2 * self.padding[d] + self.dilation[d] * (self.kernel_size[d] - 1) + 1
            if not least <= output_size[d] <= least + self.stride[d] - 1:
                raise ValueError(f"requested an output size of {output_size}, but valid sizes range from {least} to {least + self.stride[d] - 1}")
            result.append(output_size[d] - least)
        return tuple(result)

    def forward(self, input, output_size=None):
        conv = (_F.conv_transpose1d, _F.conv_transpose2d, _F.conv_transpose3d)[self.dims - 1]
        return conv(input, self.weight, self.bias, self.stride, self.padding, self._output_padding(input, output_size, self.dims),
                    self.groups, self.dilation)


class ConvTranspose1d(_Transposed):
    dims = 1


class ConvTranspose2d(_Transposed):
    dims = 2


class ConvTranspose3d(_Transposed):
    dims = 3
