# torch.nn.utils.parametrize and torch.nn.utils.parametrizations.


def is_parametrized(module, tensor_name=None):
    held = getattr(module, "parametrizations", None)
    return held is not None and (tensor_name is None or tensor_name in held)


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    raise NotImplementedError("torch.nn.utils.parametrize.remove_parametrizations")


def register_parametrization(module, tensor_name, parametrization, unsafe=False):
    """Before each forward, attribute NAME is set to parametrization(original)."""
    held = getattr(module, "parametrizations", None)
    if held is not None and tensor_name in held:
        raise NotImplementedError("torch.nn.utils.parametrize.register_parametrization of a parametrized tensor")
    value = getattr(module, tensor_name)
    original = parametrization.right_inverse(value) if hasattr(parametrization, "right_inverse") else value
    holder = _hold(module, tensor_name, {"original": original.data})
    holder.add_module("0", parametrization)

    def compute(m, inputs):
        setattr(m, tensor_name, parametrization(holder.original))

    compute(module, None)
    module.register_forward_pre_hook(compute)
    return module


def orthogonal(module, name="weight", orthogonal_map=None, use_trivialization=True):
    raise NotImplementedError("torch.nn.utils.parametrizations.orthogonal")


def _hold(module, name, values):
    """Replaces the parameter `name` by parameters `parametrizations.NAME.originalI`."""
    holder = torch.nn.Module()
    for key, value in values.items():
        holder.register_parameter(key, torch.nn.Parameter(value))
    if not hasattr(module, "parametrizations"):
        module.parametrizations = torch.nn.ModuleDict()
    del module._parameters[name]
    module.parametrizations[name] = holder
    return holder


def weight_norm(module, name="weight", dim=0):
    weight = getattr(module, name)
    axes = [i for i in range(weight.dim()) if i != dim % weight.dim()] if dim is not None else None

    def length(v):
        return torch.norm(v) if axes is None else torch.norm(v, p=2, dim=axes, keepdim=True)

    holder = _hold(module, name, {"original0": length(weight).data, "original1": weight.data})
    holder.add_module("0", torch.nn.Module())

    def compute(m, inputs):
        setattr(m, name, holder.original1 * (holder.original0 / length(holder.original1)))

    compute(module, None)
    module.register_forward_pre_hook(compute)
    return module


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    raise NotImplementedError("torch.nn.utils.parametrizations.spectral_norm")
