# torch.nn.utils: vectors of parameters, weight norm, spectral norm.


def parameters_to_vector(parameters):
    return torch.cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    at = 0
    for p in parameters:
        p.data = vec[at:at + p.numel()].view_as(p).data
        at += p.numel()


def clip_grad_norm_(parameters, max_norm, norm_type=2.0):
    raise NotImplementedError("torch.nn.utils.clip_grad_norm_")


def weight_norm(module, name="weight", dim=0):
    weight = getattr(module, name)
    axes = [i for i in range(weight.dim()) if i != dim]
    g = torch.norm(weight, p=2, dim=axes, keepdim=True) if dim is not None else torch.norm(weight)
    del module._parameters[name]
    module.register_parameter(name + "_g", torch.nn.Parameter(g.data))
    module.register_parameter(name + "_v", torch.nn.Parameter(weight.data))

    def compute(m, inputs):
        v = getattr(m, name + "_v")
        norm = torch.norm(v, p=2, dim=axes, keepdim=True) if dim is not None else torch.norm(v)
        setattr(m, name, v * (getattr(m, name + "_g") / norm))

    compute(module, None)
    _keep_hook(module, "weight_norm", name, module.register_forward_pre_hook(compute))
    return module


def _keep_hook(module, kind, name, handle):
    """Remembers the hook that computes a weight, so that it can be removed."""
    module.__dict__.setdefault("_norm_hooks", {})[kind + "." + name] = handle


def _take_hook(module, kind, name):
    hooks = module.__dict__.get("_norm_hooks", {})
    if kind + "." + name not in hooks:
        raise ValueError(f"{kind} of '{name}' not found in {module}")
    hooks.pop(kind + "." + name).remove()


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    if dim is None:
        transposed = (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d)
        dim = 1 if isinstance(module, transposed) else 0
    weight = getattr(module, name)

    def as_matrix(w):
        return w.movedim(dim, 0).reshape(w.size(dim), -1)

    def unit(v):
        return torch.nn.functional.normalize(v, dim=0, eps=eps)

    rows, cols = as_matrix(weight).shape
    u = unit(weight.new_empty(rows).normal_(0, 1))
    v = unit(weight.new_empty(cols).normal_(0, 1))
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)

    def compute(m, inputs):
        w = getattr(m, name + "_orig")
        u, v = getattr(m, name + "_u"), getattr(m, name + "_v")
        matrix = as_matrix(w)
        if m.training:
            with torch.no_grad():
                for _ in range(n_power_iterations):
                    v.copy_(unit(torch.mv(matrix.t(), u)))
                    u.copy_(unit(torch.mv(matrix, v)))
        setattr(m, name, w / torch.dot(u, torch.mv(matrix, v)))

    _keep_hook(module, "spectral_norm", name, module.register_forward_pre_hook(compute))
    return module


def remove_spectral_norm(module, name="weight"):
    _take_hook(module, "spectral_norm", name)
    w = getattr(module, name + "_orig")
    u, v = getattr(module, name + "_u"), getattr(module, name + "_v")
    dim = 1 if isinstance(module, (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d)) else 0
    matrix = w.movedim(dim, 0).reshape(w.size(dim), -1)
    weight = (w / torch.dot(u, torch.mv(matrix, v))).detach()
    delattr(module, name)
    delattr(module, name + "_u")
    delattr(module, name + "_v")
    delattr(module, name + "_orig")
    module.register_parameter(name, torch.nn.Parameter(weight))
    return module


def remove_weight_norm(module, name="weight"):
    _take_hook(module, "weight_norm", name)
    g, v = getattr(module, name + "_g"), getattr(module, name + "_v")
    axes = [i for i in range(v.dim()) if g.size(i) == 1] if g.dim() else None
    norm = torch.norm(v) if axes is None else torch.norm(v, p=2, dim=axes, keepdim=True)
    weight = (v * (g / norm)).detach()
    delattr(module, name)
    delattr(module, name + "_g")
    delattr(module, name + "_v")
    setattr(module, name, torch.nn.Parameter(weight))
    return module


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    conv_b = torch.zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = torch.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = torch.zeros_like(bn_rm) if bn_b is None else bn_b
    scale = bn_w * torch.rsqrt(bn_rv + bn_eps)
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * scale.reshape(shape + [1] * (conv_w.dim() - 2))
    bias = (conv_b - bn_rm) * scale + bn_b
    return torch.nn.Parameter(weight, conv_w.requires_grad), torch.nn.Parameter(bias, conv_b.requires_grad)


def fuse_conv_bn_eval(conv, bn, transpose=False):
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose)
    return fused


def skip_init(module_cls, *args, **kwargs):
    return module_cls(*args, **kwargs)
