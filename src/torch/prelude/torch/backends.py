# torch.backends: objects that hold settings.


class _Settings:
    _forgets = True      # a changed setting takes effect but cannot be read back

    def __init__(self, _name, _products="", _told="", **values):
        object.__setattr__(self, "_name", _name)
        object.__setattr__(self, "_products", _products)
        object.__setattr__(self, "_told", _told or _products)     # the products whose TF32 setting decides its precision
        object.__setattr__(self, "_values", values)

    def _key(self, name):
        return self._told if "32" in name and self._told else self._name + "." + name

    def __getattr__(self, name):
        if name not in self._values:
            raise AttributeError("Unknown attribute " + name)
        value = self._values[name]
        if not isinstance(value, _Settings):
            torch.backends._ask(self._key(name))
        return value

    def __setattr__(self, name, value):
        if name not in self._values:
            raise AttributeError("Unknown attribute " + name)
        self._check(name, value)
        torch.backends._change(self._key(name), value != self._values[name])    # two names of one setting share a key
        if self._products and name == "allow_tf32":
            torch.backends._tf32(self._products, bool(value))
        if self._products and name == "fp32_precision":
            torch.backends._tf32(self._products, value == "tf32")

    def _check(self, name, value):
        kind = type(self._values[name])
        if kind in (bool, int) and "reduced" not in name and type(value) is not kind:
            raise TypeError(f"set_{name} expects {'a bool' if kind is bool else 'an int'}, but got {type(value).__name__}")
        if name == "fp32_precision" and value not in ("none", "ieee", "tf32"):
            raise RuntimeError(f"Unknown precision: {value}")

    def _of_cuda(self, name, enabled):
        if self is not cuda:
            raise AttributeError("Unknown attribute " + name)
        if type(enabled) is not bool:
            raise TypeError(f"{name} expects a bool, but got {type(enabled).__name__}")

    def is_available(self):
        if self is opt_einsum:
            raise NotImplementedError("torch.backends.opt_einsum.is_available")
        return self is not mps

    def version(self):
        raise NotImplementedError("the version of a library")

    def enable_flash_sdp(self, enabled):
        self._of_cuda("enable_flash_sdp", enabled)

    def enable_math_sdp(self, enabled):
        self._of_cuda("enable_math_sdp", enabled)

    def enable_mem_efficient_sdp(self, enabled):
        self._of_cuda("enable_mem_efficient_sdp", enabled)

    def flags(self, **kwargs):
        if self is not cudnn:
            raise NotImplementedError("flags of other settings than cudnn's")
        for name, value in kwargs.items():
            if name not in self._values or isinstance(self._values[name], _Settings):
                raise TypeError(f"flags() got an unexpected keyword argument '{name}'")
            self._check(name, value)
        return self

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None


cuda = _Settings("cuda", matmul=_Settings("cuda.matmul", _products="matmul", allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
                                          allow_bf16_reduced_precision_reduction=True, fp32_precision="none"))
cudnn = _Settings("cudnn", _products="conv", enabled=True, benchmark=False, deterministic=False, allow_tf32=True, benchmark_limit=10,
                  fp32_precision="none", conv=_Settings("cudnn.conv", _products="conv", fp32_precision="tf32"),
                  rnn=_Settings("cudnn.rnn", _told="conv", fp32_precision="tf32"))
mkldnn = _Settings("mkldnn", enabled=True)
opt_einsum = _Settings("opt_einsum", enabled=False)
mps = _Settings("mps")
