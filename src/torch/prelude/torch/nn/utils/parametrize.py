# torch.nn.utils.parametrize and torch.nn.utils.parametrizations.


def is_parametrized(module, tensor_name=None):
    held = getattr(module, "parametrizations", None)
    return held is not None and (tensor_name is None or tensor_name in held)


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    value = getattr(module, tensor_name) if leave_parametrized else module.parametrizations[tensor_name].original
    module.__dict__.get("_norm_hooks", {}).pop("parametrize." + tensor_name).remove()
    delattr(module, tensor_name)
    del module.parametrizations[tensor_name]
    if len(module.parametrizations) == 0:
        delattr(module, "parametrizations")
    module.register_parameter(tensor_name, torch.nn.Parameter(value.detach()))
    return module


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
    torch.nn.utils._keep_hook(module, "parametrize", tensor_name, module.register_forward_pre_hook(compute))
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
    torch.nn.utils._keep_hook(module, "parametrize", name, module.register_forward_pre_hook(compute))
    return module


class _SpectralNorm(torch.nn.Module):
    def __init__(self, weight, n_power_iterations, dim, eps):
        super().__init__()
        self.n_power_iterations, self.dim, self.eps = n_power_iterations, dim % weight.dim(), eps
        if weight.dim() > 1:
            matrix = self._matrix(weight)
            self.register_buffer("_u", self._unit(matrix.new_empty(matrix.size(0)).normal_(0, 1)))
            self.register_buffer("_v", self._unit(matrix.new_empty(matrix.size(1)).normal_(0, 1)))
            self._iterate(matrix, 15)

    def _matrix(self, weight):
        return weight.movedim(self.dim, 0).flatten(1)

    def _unit(self, v):
        return torch.nn.functional.normalize(v, dim=0, eps=self.eps)

    def _iterate(self, matrix, n):
        with torch.no_grad():
            for _ in range(n):
                self._u.copy_(self._unit(torch.mv(matrix, self._v)))
                self._v.copy_(self._unit(torch.mv(matrix.t(), self._u)))

    def forward(self, weight):
        if weight.dim() == 1:
            return self._unit(weight)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        return weight / torch.dot(self._u.clone(), torch.mv(matrix, self._v.clone()))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    if dim is None:
        dim = 1 if isinstance(module, (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d)) else 0
    return register_parametrization(module, name, _SpectralNorm(getattr(module, name), n_power_iterations, dim, eps))
