# Linear, bilinear, convolution, embedding, and the modules that only rearrange.

_F = torch.nn.functional
_init = torch.nn.init


def _tuple(value, n):
    if isinstance(value, (tuple, list)):
        return tuple(value)
    return (value,) * n


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(torch.empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        _init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = _init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            _init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        return _F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class LazyLinear:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.nn.LazyLinear")


class Bilinear(Module):
    def __init__(self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(torch.empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1 / math.sqrt(self.weight.size(1))
        _init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            _init.uniform_(self.bias, -bound, bound)

    def forward(self, input1, input2):
        return _F.bilinear(input1, input2, self.weight, self.bias)


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


class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 sparse=False, _weight=None, _freeze=False, device=None, dtype=None):
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            assert -num_embeddings <= padding_idx < num_embeddings, "Padding_idx must be within num_embeddings"
            padding_idx = padding_idx % num_embeddings
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            self.weight = Parameter(torch.empty((num_embeddings, embedding_dim), device=device, dtype=dtype), requires_grad=not _freeze)
            self.reset_parameters()
        else:
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, **kwargs):
        rows, cols = embeddings.shape
        return cls(rows, cols, padding_idx=padding_idx, _weight=embeddings, _freeze=freeze)

    def reset_parameters(self):
        _init.normal_(self.weight)
        if self.padding_idx is not None:
            with torch.no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input):
        return _F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)


class EmbeddingBag(Module):
    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
                 sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None):
        super().__init__()
        if max_norm is not None or _weight is not None or include_last_offset or padding_idx is not None:
            torch.library._missing("EmbeddingBag with a norm, a weight, a last offset or padding of its own")
        self.mode = mode
        self.weight = Parameter(torch.empty((num_embeddings, embedding_dim), device=device, dtype=dtype))
        _init.normal_(self.weight)

    def forward(self, input, offsets=None, per_sample_weights=None):
        if per_sample_weights is not None:
            torch.library._missing("EmbeddingBag with weights for each sample")
        if input.dim() == 2:
            rows = [_F.embedding(input, self.weight)]
        else:
            ends = offsets.tolist()[1:] + [input.size(0)]
            bags = []
            for start, end in zip(offsets.tolist(), ends):
                bags.append(self._reduce(_F.embedding(input[start:end], self.weight), 0))
            return torch.stack(bags)
        return self._reduce(rows[0], 1)

    def _reduce(self, x, dim):
        if self.mode == "sum":
            return x.sum(dim)
        return x.mean(dim) if self.mode == "mean" else x.amax(dim)


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)


class Unfold(Module):
    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input):
        return _F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(Module):
    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input):
        return _F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)


class PixelShuffle(Module):
    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input):
        return _F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Module):
    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input):
        return _F.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Module):
    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        n, c = input.shape[:2]
        rest = tuple(input.shape[2:])
        return input.view(n, self.groups, c // self.groups, *rest).transpose(1, 2).reshape(n, c, *rest)


class Upsample(Module):
    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple([float(s) for s in scale_factor])
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input):
        return _F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners)


class UpsamplingNearest2d(Upsample):
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


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


class CosineSimilarity(Module):
    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1, x2):
        return _F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    def __init__(self, p=2.0, eps=1e-6, keepdim=False):
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1, x2):
        return _F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
