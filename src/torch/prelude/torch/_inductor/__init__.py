# What code written by torch.compile imports: allocation, views, products, grids, guards.


def assert_size_stride(item, size, stride, op_name=None):
    if tuple(item.shape) != tuple(size):
        raise AssertionError(f"expected size {tuple(size)}, got {tuple(item.shape)}")
    for dim, (n, have, want) in enumerate(zip(item.shape, item.stride(), stride)):
        if n > 1 and have != want:
            raise AssertionError(f"expected size {n}=={n}, stride {have}=={want} at dim={dim}")


def assert_alignment(item, alignment, op_name=None):
    pass


def _empty_strided_cuda(size, stride, dtype):
    return torch.empty_strided(tuple(size), tuple(stride), dtype=dtype, device="cuda")


def _empty_strided_cpu(size, stride, dtype):
    return torch.empty_strided(tuple(size), tuple(stride), dtype=dtype)


def _reinterpret_tensor(tensor, size, stride, offset=0):
    return torch.as_strided(tensor, tuple(size), tuple(stride), tensor.storage_offset() + offset)


def alloc_from_pool(*args):
    raise NotImplementedError("alloc_from_pool")


def get_cuda_stream(device=0):
    return 0


def get_raw_stream(device=0):
    return 0


def run_intermediate_hooks(name, value):
    return value


def maybe_profile(*args):
    return contextlib.nullcontext()


class _Guards:
    def assert_size_stride(self, item, size, stride, op_name=None):
        return assert_size_stride(item, size, stride)

    def _empty_strided_cuda(self, size, stride, dtype):
        return _empty_strided_cuda(size, stride, dtype)

    def _empty_strided_cpu(self, size, stride, dtype):
        return _empty_strided_cpu(size, stride, dtype)

    def _reinterpret_tensor(self, tensor, size, stride, offset=0):
        return _reinterpret_tensor(tensor, size, stride, offset)


guards = _Guards()


class _ExternKernels:
    def _store(self, out, value):
        if out is None:
            return value
        out.copy_(value)
        return out

    def mm(self, a, b, out=None):
        return self._store(out, torch.mm(a, b))

    def bmm(self, a, b, out=None):
        return self._store(out, torch.bmm(a, b))

    def addmm(self, bias, a, b, alpha=1, beta=1, out=None):
        return self._store(out, torch.addmm(bias, a, b, alpha=alpha, beta=beta))

    def baddbmm(self, bias, a, b, alpha=1, beta=1, out=None):
        return self._store(out, torch.baddbmm(bias, a, b, alpha=alpha, beta=beta))

    def convolution(self, x, weight, stride, padding, dilation, transposed, output_padding, groups, bias):
        n = weight.dim() - 2
        if transposed:
            fn = [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d][n - 1]
            return fn(x, weight, bias, stride, padding, output_padding, groups, dilation)
        fn = [F.conv1d, F.conv2d, F.conv3d][n - 1]
        return fn(x, weight, bias, stride, padding, dilation, groups)


F = torch.nn.functional
extern_kernels = _ExternKernels()


def grid(xnumel, ynumel=None, znumel=None):
    def cells(meta):
        def blocks(n, name):
            return 1 if n is None else -(-n // meta.get(name, 1))

        return (blocks(xnumel, "XBLOCK"), blocks(ynumel, "YBLOCK"), blocks(znumel, "ZBLOCK"))

    return cells


def split_scan_grid(xnumel, rnumel):
    def cells(meta):
        return (-(-rnumel // meta.get("RBLOCK", 1)), -(-xnumel // meta.get("XBLOCK", 1)), 1)

    return cells


class ReductionHint:
    INNER = 0
    OUTER = 1
    OUTER_TINY = 2
    DEFAULT = 3


class TileHint:
    SQUARE = 0
    DEFAULT = 1


class AutotuneHint:
    ELEMENTS_PER_WARP_32 = 0
    ONE_ELEMENT_PER_THREAD = 0


class HeuristicType:
    POINTWISE = 1
    REDUCTION = 2


class DeviceProperties:
    def __init__(self, **kwargs):
        pass


class AttrsDescriptor:
    def __init__(self, *args, **kwargs):
        pass


instance_descriptor = AttrsDescriptor


class _Inductor(triton.KernelInterface):
    # A kernel whose block sizes torch.compile would have chosen; size_hints bound them.
    def __init__(self, fn, size_hints, reduction, persistent):
        self.fn = fn
        self.size_hints = size_hints
        self.reduction = reduction
        self.persistent = persistent
        self.__name__ = fn.__name__

    def run(self, *args, grid, stream=None, **kwargs):
        names = triton._arg_names(self)
        for i, name in enumerate(["XBLOCK", "YBLOCK", "ZBLOCK"]):
            if name in names and name not in kwargs and names.index(name) >= len(args):
                kwargs[name] = 1 if self.persistent else 128 if name == "XBLOCK" and not self.reduction else 16 if "YBLOCK" in names else 8
        for name in ("RBLOCK", "R0_BLOCK", "R1_BLOCK"):
            if name in names and name not in kwargs and names.index(name) >= len(args):
                kwargs[name] = 64
        return self.fn.run(*args, grid=grid, **kwargs)


def pointwise(size_hints, triton_meta=None, tile_hint=None, filename=None, min_elem_per_thread=0, inductor_meta=None, **kwargs):
    return lambda fn: _Inductor(fn, size_hints, False, False)


def reduction(size_hints, reduction_hint=None, triton_meta=None, filename=None, inductor_meta=None, **kwargs):
    return lambda fn: _Inductor(fn, size_hints, True, False)


def persistent_reduction(size_hints, reduction_hint=None, triton_meta=None, filename=None, inductor_meta=None, **kwargs):
    return lambda fn: _Inductor(fn, size_hints, True, True)
