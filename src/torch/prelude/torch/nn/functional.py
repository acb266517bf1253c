# torch.nn.functional: functions composed of other functions.


class _Reduction:
    @staticmethod
    def get_enum(reduction):
        values = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}
        if reduction not in values:
            raise ValueError(f"{reduction} is not a valid value for reduction")
        return values[reduction]


def _check_unpool(input, indices, n):
    if indices.dtype != torch.int64:
        kinds = {torch.int32: "Int", torch.int16: "Short", torch.int8: "Char", torch.uint8: "Byte", torch.bool: "Bool", torch.float32: "Float"}
        raise RuntimeError(f"elements in indices should be type int64 but got: {kinds.get(indices.dtype, 'another')}")
    if input.dim() < n + 1 or input.dim() > n + 2:
        raise RuntimeError(f"Input to max_unpooling{n}d should be a {n + 1}d or {n + 2}d Tensor, but got a tensor with {input.dim()} dimensions.")
    if input.shape != indices.shape:
        raise RuntimeError(f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) "
                           f"but got indices tensor with shape: {list(indices.shape)}")


def _unpool(input, indices, kernel_size, stride, padding, output_size, n):
    def each(v):
        return [v] * n if isinstance(v, int) else list(v)

    k, p = each(kernel_size), each(padding)
    s = k if stride is None else each(stride)
    size = [(input.size(i - n) - 1) * s[i] - 2 * p[i] + k[i] for i in range(n)]
    if output_size is not None:
        given = list(output_size)[-n:]
        for d in range(n):
            if not size[d] - s[d] < given[d] < size[d] + s[d]:
                raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {size[d] - s[d]} and {size[d] + s[d]})')
        size = given
    _check_unpool(input, indices, n)
    lead = tuple(input.shape[:-n])
    out = input.new_zeros(lead + (math.prod(size),))
    return out.scatter_(-1, indices.flatten(-n), input.flatten(-n)).reshape(lead + tuple(size))


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 2)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 3)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    noise = -torch.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one = torch.zeros_like(logits).scatter_(dim, index, 1.0)
    return one - soft.detach() + soft
