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
    module.register_forward_pre_hook(compute)
    return module


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

    module.register_forward_pre_hook(compute)
    return module


def remove_spectral_norm(module, name="weight"):
    raise NotImplementedError("torch.nn.utils.remove_spectral_norm")


def remove_weight_norm(module, name="weight"):
    raise NotImplementedError("torch.nn.utils.remove_weight_norm")


def fuse_conv_bn_eval(conv, bn, transpose=False):
    raise NotImplementedError("torch.nn.utils.fusion.fuse_conv_bn_eval")
