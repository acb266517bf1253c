# torch: second names of functions, window functions, and functions that few programs use.


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True):
    return torch.nn.functional.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled=True):
    return torch.nn.functional.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return torch.nn.functional.embedding(indices, weight)


bilinear = torch.nn.functional.bilinear
pdist = torch.nn.functional.pdist
conv_tbc = torch.nn.functional.conv_tbc
adaptive_max_pool1d = torch.nn.functional.adaptive_max_pool1d_with_indices
max_pool1d_with_indices = torch.nn.functional.max_pool1d_with_indices
native_channel_shuffle = torch.nn.functional.native_channel_shuffle
_reductions = ("none", "mean", "sum")
_interpolations = ("bilinear", "nearest", "bicubic")
_paddings = ("zeros", "border", "reflection")


def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=1):
    return torch.nn.functional.binary_cross_entropy_with_logits(input, target, weight, pos_weight=pos_weight, reduction=_reductions[reduction])


def kl_div(input, target, reduction=1, log_target=False):
    return torch.nn.functional.kl_div(input, target, reduction=_reductions[reduction], log_target=log_target)


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1):
    return torch.nn.functional.cosine_embedding_loss(input1, input2, target, margin, reduction=_reductions[reduction])


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1):
    return torch.nn.functional.margin_ranking_loss(input1, input2, target, margin, reduction=_reductions[reduction])


def hinge_embedding_loss(input, target, margin=1.0, reduction=1):
    return torch.nn.functional.hinge_embedding_loss(input, target, margin, reduction=_reductions[reduction])


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    return torch.nn.functional.grid_sample(input, grid, _interpolations[interpolation_mode], _paddings[padding_mode], align_corners)


grid_sampler_2d = grid_sampler
grid_sampler_3d = grid_sampler


def affine_grid_generator(theta, size, align_corners):
    return torch.nn.functional.affine_grid(theta, size, align_corners)


def constant_pad_nd(input, pad, value=0):
    return torch.nn.functional.pad(input, pad, "constant", value)


def feature_dropout(input, p, train):
    return torch.nn.functional.dropout2d(input, p, train)


def norm_except_dim(v, pow=2, dim=0):
    if dim == -1:
        return torch.norm(v, pow)
    return torch.norm(v, pow, [d for d in range(v.dim()) if d != dim % v.dim()], keepdim=True)


def qr(input, some=True):
    return torch.linalg.qr(input, "reduced" if some else "complete")


def real(input):
    return input.real


def adjoint(input):
    return input.mT


def conj(input):
    return input


def resolve_conj(input):
    return input


def view_as(input, other):
    return input.view_as(other)


def row_stack(tensors):
    return torch.vstack(tensors)


def is_same_size(input, other):
    return input.shape == other.shape


def is_nonzero(input):
    return input.item() != 0


def is_complex(input):
    return False


def get_device(input):
    return input.get_device()


def unravel_index(indices, shape):
    shape = [shape] if isinstance(shape, type(0)) else list(shape)
    out = []
    for n in shape[::-1]:
        out.append(indices % n)
        indices = indices // n
    return tuple(out[::-1])


def vander(x, N=None, increasing=False):
    n = x.size(0) if N is None else N
    powers = torch.arange(n, device=x.device)
    return x.unsqueeze(-1) ** (powers if increasing else powers.flip(0))


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    if dim is not None:
        raise NotImplementedError("unique_consecutive along a dimension")
    x = input.flatten()
    first = torch.ones_like(x, dtype=torch.bool)
    first[1:] = x[1:] != x[:-1]
    place = torch.cumsum(first.long(), 0) - 1
    out = [x[first]]
    if return_inverse:
        out.append(place.reshape(input.shape))
    if return_counts:
        out.append(torch.bincount(place))
    return tuple(out) if len(out) > 1 else out[0]


def corrcoef(input):
    c = torch.cov(input)
    if c.dim() == 0:
        return c / c
    d = torch.sqrt(torch.diagonal(c))
    return (c / d.unsqueeze(1) / d.unsqueeze(0)).clamp(-1, 1)


def _series(A):
    """exp(A) of one matrix in double: scaled until the series converges, then squared back."""
    norm = A.abs().sum(0).max().item()
    squarings = 0 if norm <= 0.5 else math.ceil(math.log2(norm / 0.5))
    A = A / 2.0**squarings
    out = term = torch.eye(A.size(0), dtype=A.dtype, device=A.device)
    for k in range(1, 20):
        term = term @ A / k
        out = out + term
    for _ in range(squarings):
        out = out @ out
    return out


def matrix_exp(input):
    return torch.linalg._batched(_series, input)


def nanmedian(input, dim=None, keepdim=False):
    if dim is None:
        x = input.flatten()
        x = x[~torch.isnan(x)]
        return x.median() if x.numel() else input.flatten()[0]
    raise NotImplementedError("nanmedian along a dimension")


def cumulative_trapezoid(y, x=None, dx=1, dim=-1):
    n = y.size(dim)
    width = dx if x is None else torch.diff(x, dim=dim if x.dim() == y.dim() else -1)
    return torch.cumsum((y.narrow(dim, 0, n - 1) + y.narrow(dim, 1, n - 1)) * width, dim) / 2


def _cosines(window_length, periodic, dtype, device, parts):
    """Sum of parts[k] * cos(2 pi k i / n), the form of most window functions."""
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if window_length <= 1:
        return torch.ones(window_length, dtype=dtype, device=device)
    n = window_length if periodic else window_length - 1
    i = torch.arange(window_length, dtype=torch.float64, device=device)
    out = torch.zeros_like(i)
    for k, part in enumerate(parts):
        out = out + part * torch.cos(2 * math.pi * k * i / n)
    return out.to(dtype)


def hann_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False):
    return _cosines(window_length, periodic, dtype, device, [0.5, -0.5])


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, layout=None, device=None, requires_grad=False):
    return _cosines(window_length, periodic, dtype, device, [alpha, -beta])


def blackman_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False):
    return _cosines(window_length, periodic, dtype, device, [0.42, -0.5, 0.08])


def bartlett_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False):
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if window_length <= 1:
        return torch.ones(window_length, dtype=dtype, device=device)
    n = window_length if periodic else window_length - 1
    i = torch.arange(window_length, dtype=torch.float64, device=device)
    return (1 - torch.abs(2 * i / n - 1)).to(dtype)


def set_default_tensor_type(t):
    kinds = {torch.FloatTensor: torch.float32, torch.DoubleTensor: torch.float64, "torch.FloatTensor": torch.float32}
    if t not in kinds:
        raise NotImplementedError("torch.set_default_tensor_type")
    torch.set_default_dtype(kinds[t])


def is_inference_mode_enabled():
    return False


def is_anomaly_enabled():
    return False


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    if in_dims != 0 or out_dims != 0:
        raise NotImplementedError("vmap over other dimensions than the first")

    def mapped(*args, **kwargs):
        return torch.stack([func(*row, **kwargs) for row in zip(*args)])

    return mapped

