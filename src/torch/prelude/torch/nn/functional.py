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


def relu_(input):
    return input.relu_()


def leaky_relu_(input, negative_slope=0.01):
    return leaky_relu(input, negative_slope, True)


def elu_(input, alpha=1.0):
    return elu(input, alpha, True)


def selu_(input):
    return selu(input, True)


def celu_(input, alpha=1.0):
    return celu(input, alpha, True)


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    return hardtanh(input, min_val, max_val, True)


def threshold_(input, threshold, value):
    return torch.nn.functional.threshold(input, threshold, value, True)


def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    return input.copy_(rrelu(input, lower, upper, training))


def upsample_nearest(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, "bilinear", True)


def _triangle(x):
    return 1.0 - abs(x) if abs(x) < 1.0 else 0.0


def _cubic(x):
    x = abs(x)
    if x < 1.0:
        return (1.5 * x - 2.5) * x * x + 1.0
    return ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0 if x < 2.0 else 0.0


def _resize_matrix(n, size, scale, reach, weight, like):
    """The weights (size, n) of an antialiased resize along a dimension. `reach`: half the width of the filter
    at scale 1, which grows with the scale so that it covers every input."""
    wide = max(scale, 1.0)
    rows = []
    for i in range(size):
        centre = scale * (i + 0.5)
        first = max(int(centre - reach * wide + 0.5), 0)
        last = min(int(centre + reach * wide + 0.5), n)
        row = [weight((j - centre + 0.5) / wide) for j in range(first, last)]
        total = math.fsum(row)
        rows.append([0.0] * first + [w / total for w in row] + [0.0] * (n - last))
    return torch.tensor(rows, dtype=torch.float64, device=like.device).to(like.dtype)


def _attention_with_dropout(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
    """scaled_dot_product_attention with dropout: PyTorch's CPU has no fused kernel that draws a mask, and composes it."""
    if enable_gqa:
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    scale = 1.0 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = torch.matmul(query * math.sqrt(scale), (key * math.sqrt(scale)).transpose(-2, -1))
    if is_causal:
        attn_mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool).tril()
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype == torch.bool else scores + attn_mask
    return torch.matmul(dropout(softmax(scores, -1), dropout_p), value)


def _antialiased(input, size, scale_factor, mode, align_corners):
    """interpolate(antialias=True): the last dimension first, then the one before it."""
    if mode not in ("bilinear", "bicubic"):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input")
    factors = [None, None]
    if size is None:
        factors = list(scale_factor) if isinstance(scale_factor, (list, tuple)) else [scale_factor] * 2
        size = [int(math.floor(input.size(i + 2) * float(f))) for i, f in enumerate(factors)]
    size = [size, size] if isinstance(size, int) else list(size)
    made = []
    for i in range(2):
        n = input.size(i + 2)
        scale = n / size[i] if factors[i] is None else 1.0 / factors[i]
        if align_corners:
            scale = (n - 1) / (size[i] - 1) if size[i] > 1 else 0.0
        made.append(_resize_matrix(n, size[i], scale, 1.0 if mode == "bilinear" else 2.0, _triangle if mode == "bilinear" else _cubic, input))
    return torch.matmul(made[0], torch.matmul(input, made[1].t()))


def _axis(n, align_corners, like):
    if n <= 1:
        return torch.zeros(n, dtype=like.dtype, device=like.device)
    line = torch.linspace(-1, 1, n, dtype=torch.float64, device=like.device).to(like.dtype)
    return line if align_corners else line * (n - 1) / n


def affine_grid(theta, size, align_corners=None):
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    size = [int(n) for n in size]
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
                                  f"Got size {torch.Size(size)}.")
    if theta.dim() != 3 or theta.size(-2) != n or theta.size(-1) != n + 1:
        raise ValueError(f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {torch.Size(size)}. Got {theta.shape}.")
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {torch.Size(size)}")
    axes = [_axis(s, align_corners, theta) for s in size[2:]]
    base = torch.stack(list(torch.meshgrid(*axes, indexing="ij"))[::-1] + [torch.ones(size[2:], dtype=theta.dtype, device=theta.device)], -1)
    flat = base.reshape(1, -1, n + 1).expand(theta.size(0), -1, -1)
    return flat.bmm(theta.transpose(1, 2)).reshape([theta.size(0)] + size[2:] + [n])


def pdist(input, p=2.0):
    n = input.size(0)
    rows, cols = torch.triu_indices(n, n, 1, device=input.device)
    return torch.linalg.vector_norm(input[rows] - input[cols], p, -1)


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    return adaptive_max_pool1d(input, output_size, True)


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    return adaptive_max_pool2d(input, output_size, True)


def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    return adaptive_max_pool3d(input, output_size, True)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    k = [kernel_size] * 3 if isinstance(kernel_size, int) else list(kernel_size)
    out = avg_pool3d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return (torch.sign(out) * relu(torch.abs(out))).mul(k[0] * k[1] * k[2]).pow(1.0 / norm_type)


def native_channel_shuffle(input, groups):
    return channel_shuffle(input, groups)


def conv_tbc(input, weight, bias, pad=0):
    return conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


def _reduced(loss, reduction):
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    loss = loss if weight is None else loss * weight
    return _reduced(loss.sum(-1) / input.size(-1), reduction)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    single = input.dim() == 1
    x, y = (input.unsqueeze(0), target.unsqueeze(0)) if single else (input, target)
    live = (y >= 0).long().cumprod(1).bool()
    index = torch.where(live, y, torch.zeros_like(y))
    is_target = torch.zeros_like(x).scatter_add_(1, index, live.to(x.dtype)) > 0
    gap = (1 - (x.gather(1, index).unsqueeze(2) - x.unsqueeze(1))).clamp(min=0)
    loss = (gap * live.unsqueeze(2) * (~is_target).unsqueeze(1)).sum((1, 2)) / x.size(1)
    return _reduced(loss[0] if single else loss, reduction)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    far = torch.minimum(far, distance(positive, negative)) if swap else far
    return _reduced((margin + near - far).clamp(min=0), reduction)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=None):
    if max_norm is not None or padding_idx is not None:
        raise NotImplementedError("embedding_bag with max_norm or padding_idx")
    if input.dim() == 2:
        bags, factors = list(input), [None] * input.size(0) if per_sample_weights is None else list(per_sample_weights)
    else:
        edges = [int(i) for i in offsets] + ([] if include_last_offset else [input.size(0)])
        bags = [input[a:b] for a, b in zip(edges[:-1], edges[1:])]
        factors = [None if per_sample_weights is None else per_sample_weights[a:b] for a, b in zip(edges[:-1], edges[1:])]
    out = []
    for bag, factor in zip(bags, factors):
        rows = embedding(bag, weight)
        rows = rows if factor is None else rows * factor.unsqueeze(1)
        if bag.size(0) == 0:
            out.append(weight.new_zeros(weight.size(1)))
        else:
            out.append(rows.sum(0) if mode == "sum" else rows.mean(0) if mode == "mean" else rows.max(0).values)
    return torch.stack(out)


class _OutProj:
    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias


def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
                                 dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True,
                                 attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None,
                                 static_k=None, static_v=None, average_attn_weights=True, is_causal=False):
    if static_k is not None or static_v is not None:
        raise NotImplementedError("multi_head_attention_forward with static keys or values")
    m = torch.nn.MultiheadAttention.__new__(torch.nn.MultiheadAttention)
    torch.nn.Module.__init__(m)
    m.embed_dim, m.num_heads, m.head_dim = embed_dim_to_check, num_heads, embed_dim_to_check // num_heads
    m.dropout, m.batch_first, m.training = dropout_p, False, training
    m._qkv_same_embed_dim = not use_separate_proj_weight
    held = m.__dict__
    held["in_proj_weight"], held["in_proj_bias"] = in_proj_weight, in_proj_bias
    held["q_proj_weight"], held["k_proj_weight"], held["v_proj_weight"] = q_proj_weight, k_proj_weight, v_proj_weight
    held["bias_k"], held["bias_v"], held["add_zero_attn"] = bias_k, bias_v, add_zero_attn
    held["out_proj"] = _OutProj(out_proj_weight, out_proj_bias)
    return m.forward(query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal)
