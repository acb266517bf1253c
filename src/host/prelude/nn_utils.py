# torch.nn.utils.


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
    raise NotImplementedError("torch.nn.utils.spectral_norm")
