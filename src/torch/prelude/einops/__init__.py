# einops: patterns like "b (h d) t -> (b t) h d", by reshape, permute, expand and reductions.


def _groups(side):
    groups = []
    inside = None
    for token in side.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            inside = []
        elif token == ")":
            groups.append(inside)
            inside = None
        elif inside is None:
            groups.append([token])
        else:
            inside.append("(...)" if token == "..." else token)
    return groups


def _expand_ellipsis(groups, names):
    """Replaces "..." by one axis per name and "(...)" by one axis of all names."""
    spread = [g for group in groups for g in ([[n] for n in names] if group == ["..."] else [group])]
    return [[n for name in group for n in (names if name == "(...)" else [name])] for group in spread]


def _sizes(pattern, groups, shape, given):
    sizes = dict(given)
    for group, total in zip(groups, shape):
        known = 1
        unknown = None
        for name in group:
            if name.isdigit():
                known *= int(name)
            elif name in sizes:
                known *= sizes[name]
            elif unknown is None:
                unknown = name
            else:
                raise RuntimeError(f"Could not infer sizes for {[unknown, name]} in pattern {pattern!r}")
        if unknown is not None:
            if known == 0 or total % known != 0:
                raise RuntimeError(f"Shape mismatch, can't divide axis of length {total} in chunks of {known} in pattern {pattern!r}")
            sizes[unknown] = total // known
        elif known != total:
            raise RuntimeError(f"Shape mismatch, {total} != {known} in pattern {pattern!r}")
    return sizes


def _parse(tensor, pattern, given):
    if "->" not in pattern:
        raise RuntimeError(f"pattern {pattern!r} has no '->'")
    left, right = [_groups(side) for side in pattern.split("->")]
    plain = len([g for g in left if g != ["..."]])
    names = [f"_{i}" for i in range(tensor.dim() - plain)] if ["..."] in left else []
    left, right = _expand_ellipsis(left, names), _expand_ellipsis(right, names)
    if len(left) != tensor.dim():
        raise RuntimeError(f"Wrong shape: expected {len(left)} dims. Received {tensor.dim()}-dim tensor.")
    left = [[f"_one{i}_{k}" if n == "1" else n for k, n in enumerate(g)] for i, g in enumerate(left)]
    given = dict(given)
    for group in left:
        for name in group:
            if name.startswith("_one"):
                given[name] = 1
    return left, right, _sizes(pattern, left, tensor.shape, given)


def _flat(groups):
    return [name for group in groups for name in group]


def _length(name, sizes):
    return int(name) if name.isdigit() else sizes[name]


def _regroup(tensor, groups, sizes):
    shape = []
    for group in groups:
        n = 1
        for name in group:
            n *= _length(name, sizes)
        shape.append(n)
    return tensor.reshape(shape)


def rearrange(tensor, pattern, **axes_lengths):
    if isinstance(tensor, (list, tuple)):
        tensor = torch.stack(list(tensor))
    left, right, sizes = _parse(tensor, pattern, axes_lengths)
    source = [n for n in _flat(left) if not n.startswith("_one")]
    target = [n for n in _flat(right) if n != "1"]
    if sorted(source) != sorted(target):
        raise RuntimeError(f"Identifiers only on one side of expression (should be on both): {set(source) ^ set(target)} in pattern {pattern!r}")
    tensor = tensor.reshape([sizes[n] for n in source])
    tensor = tensor.permute([source.index(n) for n in target])
    return _regroup(tensor, right, sizes)


def repeat(tensor, pattern, **axes_lengths):
    left, right, sizes = _parse(tensor, pattern, axes_lengths)
    source = [n for n in _flat(left) if not n.startswith("_one")]
    target = [n for n in _flat(right) if n != "1"]
    missing = [n for n in source if n not in target]
    if missing:
        raise RuntimeError(f"Unexpected identifiers on the left side of repeat: {missing}")
    for name in target:
        if not name.isdigit() and name not in sizes:
            raise RuntimeError(f"Specify sizes for new axes in repeat: {name}")
    tensor = tensor.reshape([sizes[n] for n in source])
    tensor = tensor.permute([source.index(n) for n in target if n in source])
    shape = []
    for i, name in enumerate(target):
        if name not in source:
            tensor = tensor.unsqueeze(i)
        shape.append(_length(name, sizes))
    return _regroup(tensor.expand(shape), right, sizes)


def reduce(tensor, pattern, reduction, **axes_lengths):
    left, right, sizes = _parse(tensor, pattern, axes_lengths)
    source = [n for n in _flat(left) if not n.startswith("_one")]
    target = [n for n in _flat(right) if n != "1"]
    tensor = tensor.reshape([sizes[n] for n in source])
    gone = [i for i, n in enumerate(source) if n not in target]
    tensor = tensor.permute([source.index(n) for n in target if n in source] + gone)     # the same order as einops: it decides the strides
    gone = list(range(len(source) - len(gone), len(source)))
    if gone:
        if callable(reduction):
            tensor = reduction(tensor, tuple(gone))
        elif reduction == "prod":
            for i in reversed(gone):
                tensor = tensor.prod(i)
        else:
            tensor = getattr(tensor, {"min": "amin", "max": "amax", "mean": "mean", "sum": "sum"}[reduction])(tuple(gone))
    return _regroup(tensor, right, sizes)


def einsum(*args):
    pattern = args[-1]
    left, right = pattern.split("->")
    letters = {}
    for name in left.replace(",", " ").split() + right.split():
        if name != "..." and name not in letters:
            letters[name] = chr(ord("a") + len(letters))

    def short(side):
        return "".join(["..." if n == "..." else letters[n] for n in side.split()])

    return torch.einsum(",".join([short(s) for s in left.split(",")]) + "->" + short(right), *args[:-1])


def pack(tensors, pattern):
    axis = pattern.split().index("*")
    after = len(pattern.split()) - axis - 1
    shapes, flat = [], []
    for t in tensors:
        shapes.append(t.shape[axis:t.dim() - after])
        flat.append(t.reshape(tuple(t.shape[:axis]) + (-1,) + tuple(t.shape[t.dim() - after:])))
    return torch.cat(flat, axis), shapes


def unpack(tensor, packed_shapes, pattern):
    axis = pattern.split().index("*")
    result, start = [], 0
    for shape in packed_shapes:
        n = math.prod(shape)
        part = tensor.narrow(axis, start, n)
        result.append(part.reshape(tuple(part.shape[:axis]) + tuple(shape) + tuple(part.shape[axis + 1:])))
        start += n
    return result
