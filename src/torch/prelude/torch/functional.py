# torch: functions composed of others. In this file max, min, sum and int are those of torch.


def _each(fn, tensors):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    elif len(tensors) == 1:
        return fn(tensors[0])
    return tuple([fn(t) for t in tensors])


def atleast_1d(*tensors):
    return _each(lambda t: t.reshape(1) if t.dim() == 0 else t, tensors)


def _two(t):
    return t.reshape(1, 1) if t.dim() == 0 else t.unsqueeze(0) if t.dim() == 1 else t


def atleast_2d(*tensors):
    return _each(_two, tensors)


def _three(t):
    if t.dim() == 0:
        return t.reshape(1, 1, 1)
    return t.unsqueeze(0).unsqueeze(-1) if t.dim() == 1 else t.unsqueeze(-1) if t.dim() == 2 else t


def atleast_3d(*tensors):
    return _each(_three, tensors)


def column_stack(tensors):
    return torch.cat([t.reshape(-1, 1) if t.dim() < 2 else t for t in tensors], 1)


def diagflat(input, offset=0):
    return torch.diag(input.flatten(), offset)


def _check_split(name, input, least, dim, sections):
    if input.dim() < least:
        raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {input.dim()} dimensions!")
    if not isinstance(sections, (list, tuple)) and (sections == 0 or input.size(dim) % sections):
        raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {input.size(dim)} "
                           f"is not divisible by the split_size {sections}!")


def hsplit(input, indices_or_sections):
    _check_split("hsplit", input, 1, 0 if input.dim() == 1 else 1, indices_or_sections)
    return torch.tensor_split(input, indices_or_sections, 0 if input.dim() == 1 else 1)


def vsplit(input, indices_or_sections):
    _check_split("vsplit", input, 2, 0, indices_or_sections)
    return torch.tensor_split(input, indices_or_sections, 0)


def dsplit(input, indices_or_sections):
    _check_split("dsplit", input, 3, 2, indices_or_sections)
    return torch.tensor_split(input, indices_or_sections, 2)


def msort(input):
    return torch.sort(input, 0).values


def clamp_min_(input, min):
    return input.clamp_min_(min)


def clamp_max_(input, max):
    return input.clamp_max_(max)


def renorm(input, p, dim, maxnorm):
    if input.dim() < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.dim()} dimensions")
    others = [d for d in range(input.dim()) if d != dim % input.dim()]
    norm = torch.linalg.vector_norm(input, p, others, keepdim=True)
    return input * torch.where(norm > maxnorm, maxnorm / (norm + 1e-7), torch.ones_like(norm))


def cov(input, correction=1):
    x = input.reshape(1, -1) if input.dim() < 2 else input
    x = x - x.mean(1, keepdim=True)
    return (x @ x.t() / (x.size(1) - correction)).squeeze()


_kinds = {torch.int64: "Long", torch.int32: "Int", torch.int16: "Short", torch.int8: "Char", torch.uint8: "Byte", torch.bool: "Bool"}


def histc(input, bins=100, min=0, max=0):
    if not input.is_floating_point():
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{_kinds[input.dtype]}'")
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    x = input.flatten()
    if x.numel() == 0 and min == max:
        min, max = 0, 1
    if min == max:
        min, max = x.min().item(), x.max().item()
    if min == max:
        min, max = min - 1, max + 1
    if not (math.isfinite(min) and math.isfinite(max)):
        raise RuntimeError(f"torch.histc: range of [{min}, {max}] is not finite")
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")
    x = x[(x >= min) & (x <= max)]
    place = ((x - min) * (bins / (max - min))).floor().long().clamp(0, bins - 1)
    return torch.bincount(place, minlength=bins).to(input.dtype)


def diff(input, n=1, dim=-1, prepend=None, append=None):
    if input.dim() < 1:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    parts = [t for t in (prepend, input, append) if t is not None]
    x = torch.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        size = x.size(dim)
        x = x.narrow(dim, 1, size - 1) - x.narrow(dim, 0, size - 1)
    return x


def kron(input, other):
    n = input.dim() if input.dim() > other.dim() else other.dim()
    a = input.reshape((1,) * (n - input.dim()) + tuple(input.shape))
    b = other.reshape((1,) * (n - other.dim()) + tuple(other.shape))
    shape = [a.size(i) * b.size(i) for i in range(n)]
    for i in range(n):
        a = a.unsqueeze(2 * i + 1)
        b = b.unsqueeze(2 * i)
    return (a * b).reshape(shape)


def isin(elements, test_elements, assume_unique=False, invert=False):
    test = test_elements if isinstance(test_elements, torch.Tensor) else torch.tensor(test_elements, device=elements.device)
    found = (elements.unsqueeze(-1) == test.flatten()).any(-1)
    return ~found if invert else found


def quantile(input, q, dim=None, keepdim=False, interpolation="linear"):
    if interpolation != "linear":
        raise NotImplementedError("quantile with interpolation other than linear")
    if input.dtype != torch.float32 and input.dtype != torch.float64:
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if isinstance(q, torch.Tensor) and q.dtype != input.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    q = q if isinstance(q, torch.Tensor) else torch.tensor(q, dtype=torch.float64, device=input.device).to(input.dtype)
    x = input.flatten() if dim is None else input
    d = 0 if dim is None else dim
    x = torch.sort(x, d).values.movedim(d, 0)
    rank = q.flatten() * (x.size(0) - 1)
    low = rank.floor()
    weight = (rank - low).reshape([-1] + [1] * (x.dim() - 1))
    a = x[low.long()]
    b = x[rank.ceil().long()]
    out = torch.lerp(a, b, weight.expand_as(a))
    if keepdim:
        out = out.unsqueeze(1 + d % input.dim()) if dim is not None else out.reshape([-1] + [1] * input.dim())
    return out[0] if q.dim() == 0 else out


def cartesian_prod(*tensors):
    for t in tensors:
        if t.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return torch.stack([t.flatten() for t in torch.meshgrid(*tensors, indexing="ij")], dim=1)


def tensor_split(input, indices_or_sections, dim=0):
    size = input.size(dim)
    if type(indices_or_sections) is type(0):
        n = indices_or_sections
        sizes = [size // n + (1 if i < size % n else 0) for i in range(n)]
        return torch.split(input, sizes, dim)
    edges = [0]
    for i in indices_or_sections:
        i = i + size if i < 0 else i
        edges.append(0 if i < 0 else size if i > size else i)
    edges.append(size)
    return tuple([input.narrow(dim, a, b - a if b > a else 0) for a, b in zip(edges[:-1], edges[1:])])


def select_scatter(input, src, dim, index):
    out = input.clone()
    out.select(dim, index).copy_(src)
    return out


def _must_be_tensor(value, call):
    if not isinstance(value, torch.Tensor):
        raise TypeError(call + " must be Tensor, not " + type(value).__name__)


def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    _must_be_tensor(src, "slice_scatter(): argument 'src' (position 2)")
    out = input.clone()
    where = [slice(None)] * input.dim()
    where[dim] = slice(start, end, step)
    out[tuple(where)] = src
    return out


def addr(input, vec1, vec2, beta=1, alpha=1):
    return beta * input + alpha * torch.outer(vec1, vec2)


def vdot(input, other):
    return torch.dot(input, other)


def chain_matmul(*matrices):
    out = matrices[0]
    for m in matrices[1:]:
        out = out @ m
    return out


def fill(input, value):
    return torch.full_like(input, value)


def inner(input, other):
    if input.dim() == 0 or other.dim() == 0:
        return input * other
    if input.size(-1) != other.size(-1):
        raise RuntimeError("inner() the last dimension must match on both input tensors")
    return torch.tensordot(input, other, ([input.dim() - 1], [other.dim() - 1])) if input.dim() + other.dim() > 2 else torch.dot(input, other)


def tensordot(a, b, dims=2):
    if type(dims) is type(0):
        left = list(range(a.dim() - dims, a.dim()))
        right = list(range(dims))
    else:
        left, right = [list(d) if isinstance(d, (list, tuple)) else [d] for d in dims]
    left = [d % a.dim() for d in left]
    right = [d % b.dim() for d in right]
    keep_a = [d for d in range(a.dim()) if d not in left]
    keep_b = [d for d in range(b.dim()) if d not in right]
    n = 1
    for d in left:
        n *= a.size(d)
    x = a.permute(keep_a + left).reshape(-1, n)
    y = b.permute(right + keep_b).reshape(n, -1)
    return (x @ y).reshape([a.size(d) for d in keep_a] + [b.size(d) for d in keep_b])


def block_diag(*tensors):
    parts = [torch.atleast_2d(t) for t in tensors]
    rows = cols = 0
    for t in parts:
        rows += t.size(0)
        cols += t.size(1)
    out = torch.zeros(rows, cols, dtype=parts[0].dtype, device=parts[0].device)
    row = col = 0
    for t in parts:
        out[row : row + t.size(0), col : col + t.size(1)] = t
        row += t.size(0)
        col += t.size(1)
    return out


def combinations(input, r=2, with_replacement=False):
    index = list(range(input.numel()))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = [list(c) for c in choose(index, r)]
    if not rows:
        return input.new_empty((0, r))
    return input[torch.tensor(rows)]


def spmm(input, mat2):
    return torch.mm(input, mat2)


def from_numpy(ndarray):
    return ndarray.__array__()


def inverse(input):
    return torch.linalg.inv(input)


def det(input):
    return torch.linalg.det(input)


def logdet(input):
    return torch.linalg.det(input).log()


def slogdet(input):
    return torch.linalg.slogdet(input)


def pinverse(input, rcond=None):
    return torch.linalg.pinv(input, rcond)


def cholesky(input, upper=False):
    return torch.linalg.cholesky(input, upper=upper)


def matrix_power(input, n):
    return torch.linalg.matrix_power(input, n)


def trapezoid(y, x=None, dx=1, dim=-1):
    n = y.size(dim)
    if x is not None and x.dim() == 1 and x.size(0) != n:
        raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
    width = dx if x is None else torch.diff(x, dim=dim if x.dim() == y.dim() else -1)
    if x is not None and x.dim() == 1:
        width = width.reshape([-1 if d == dim % y.dim() else 1 for d in range(y.dim())])
    return ((y.narrow(dim, 0, n - 1) + y.narrow(dim, 1, n - 1)) * width).sum(dim) / 2


def trapz(y, x=None, *, dx=1, dim=-1):
    return trapezoid(y, x, dx=dx, dim=dim)


def dist(input, other, p=2):
    _must_be_tensor(other, "dist(): argument 'other' (position 2)")
    return torch.norm(input - other, p)


def is_autocast_cpu_enabled():
    return False


def get_autocast_dtype(device_type):
    return torch.bfloat16 if device_type == "cpu" else torch.float16


def get_autocast_gpu_dtype():
    return torch.float16


def get_autocast_cpu_dtype():
    return torch.bfloat16


def are_deterministic_algorithms_enabled():
    torch.backends._ask("deterministic_algorithms")
    return False
