# torch.nn.functional: what is made of other functions.


class _Reduction:
    @staticmethod
    def get_enum(reduction):
        values = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}
        if reduction not in values:
            raise ValueError(f"{reduction} is not a valid value for reduction")
        return values[reduction]


def _unpool(input, indices, kernel_size, stride, padding, output_size, n):
    def each(v):
        return [v] * n if isinstance(v, int) else list(v)

    k, p = each(kernel_size), each(padding)
    s = k if stride is None else each(stride)
    if output_size is None:
        size = [(input.size(i - n) - 1) * s[i] - 2 * p[i] + k[i] for i in range(n)]
    else:
        size = list(output_size)[-n:]
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
