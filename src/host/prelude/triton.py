# The host side of triton: jit functions, autotuning, heuristics.


class KernelInterface:
    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)


class JITFunction(KernelInterface):
    def __init__(self, fn, version=None, do_not_specialize=None, do_not_specialize_on_alignment=None, debug=None, noinline=None,
                 repr=None, launch_metadata=None):
        self.fn = fn
        self.__name__ = fn.__name__
        self.do_not_specialize = do_not_specialize if do_not_specialize else []
        self.noinline = bool(noinline)

    @property
    def arg_names(self):
        return triton._arg_names(self)

    def run(self, *args, grid, warmup=False, **kwargs):
        if warmup:
            return None
        return triton._run(self, args, grid, kwargs)

    def warmup(self, *args, grid, **kwargs):
        return None

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")


def jit(fn=None, *, version=None, repr=None, launch_metadata=None, do_not_specialize=None, do_not_specialize_on_alignment=None,
        debug=None, noinline=None):
    def decorate(f):
        return JITFunction(f, version, do_not_specialize, do_not_specialize_on_alignment, debug, noinline, repr, launch_metadata)

    return decorate if fn is None else decorate(fn)


class Config:
    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None,
                 num_buffers_warp_spec=0, num_consumer_groups=0, reg_dec_producer=0, reg_inc_consumer=0):
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook

    def all_kwargs(self):
        options = {"num_warps": self.num_warps, "num_ctas": self.num_ctas, "num_stages": self.num_stages, "maxnreg": self.maxnreg}
        return {**self.kwargs, **{k: v for k, v in options.items() if v is not None}}

    def __str__(self):
        parts = [f"{k}: {v}" for k, v in self.kwargs.items()]
        return ", ".join(parts + [f"num_warps: {self.num_warps}", f"num_ctas: {self.num_ctas}", f"num_stages: {self.num_stages}"])


class Autotuner(KernelInterface):
    # The first configuration runs; the others are there to be checked.
    def __init__(self, fn, configs, key, reset_to_zero, restore_value, pre_hook, post_hook, prune_configs_by):
        self.fn = fn
        self.configs = configs if configs else [Config({})]
        if len(self.configs) > 1000:
            raise ValueError(f"{len(self.configs)} configurations to choose from are more than the 1000 that are tried")
        self.keys = key
        self.reset_to_zero = list(reset_to_zero) if reset_to_zero else []
        self.pre_hook = pre_hook
        self.post_hook = post_hook
        self.prune = prune_configs_by or {}
        self.__name__ = fn.__name__
        self.best_config = None

    @property
    def arg_names(self):
        return triton._arg_names(self)

    def run(self, *args, **kwargs):
        config = self._choose(args, kwargs)
        conflicts = [name for name in kwargs if name in config.kwargs]
        if conflicts:
            raise ValueError(f"Conflicting meta-parameters: {', '.join(conflicts)}. Make sure that you don't re-define auto-tuned symbols.")
        self.best_config = config
        current = dict(kwargs)
        current.update(config.all_kwargs())
        named = dict(zip(self.arg_names, args))
        named.update(current)
        for name in self.reset_to_zero:
            named[name].zero_()
        if config.pre_hook is not None:
            config.pre_hook(named)
        if self.pre_hook is not None:
            self.pre_hook(named)
        result = self.fn.run(*args, **current)
        if self.post_hook is not None:
            self.post_hook(named, None)
        return result

    def _choose(self, args, kwargs):
        configs = self.configs
        early = self.prune.get("early_config_prune")
        if early is not None:
            named = dict(zip(self.arg_names, args))
            configs = early(configs, named, **kwargs)
            if not configs:
                raise RuntimeError("No valid autotuner configs after pruning. `early_config_prune` should return at least one config.")
        return configs[0]

    def warmup(self, *args, **kwargs):
        return None


def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None, pre_hook=None, post_hook=None, warmup=None,
             rep=None, use_cuda_graph=False, do_bench=None, cache_results=False):
    def decorate(fn):
        return Autotuner(fn, configs, key, reset_to_zero, restore_value, pre_hook, post_hook, prune_configs_by)

    return decorate


class Heuristics(KernelInterface):
    def __init__(self, fn, values):
        self.fn = fn
        self.values = values
        self.__name__ = fn.__name__

    @property
    def arg_names(self):
        return triton._arg_names(self)

    def run(self, *args, **kwargs):
        for name, heuristic in self.values.items():
            named = dict(zip(self.arg_names, args))
            named.update(kwargs)
            kwargs[name] = heuristic(named)
        return self.fn.run(*args, **kwargs)


def heuristics(values):
    return lambda fn: Heuristics(fn, values)


class TritonError(Exception):
    pass


class CompilationError(TritonError):
    pass


class OutOfResources(TritonError):
    pass


def set_allocator(allocator):
    pass


def constexpr_function(fn):
    return fn


__version__ = "3.6.0"
