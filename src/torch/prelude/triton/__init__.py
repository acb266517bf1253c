# The host side of triton: jit functions, autotuning, heuristics.


class CompiledKernel:
    # The result of a launch. The product of the compiler's back end (registers, PTX) is not known here.
    def __getattr__(self, name):
        raise NotImplementedError(f"CompiledKernel.{name}")


_compiled = CompiledKernel()


class KernelInterface:
    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)


class JITFunction(KernelInterface):
    def __init__(self, fn, version=None, do_not_specialize=None, do_not_specialize_on_alignment=None, debug=None, noinline=None,
                 repr=None, launch_metadata=None):
        self.fn = fn
        self.__name__ = fn.__name__
        self.do_not_specialize = do_not_specialize if do_not_specialize else []
        self.noinline = noinline

    @property
    def arg_names(self):
        return triton._arg_names(self)

    def run(self, *args, grid, warmup=False, **kwargs):
        if not warmup:
            triton._run(self, args, grid, kwargs)
        return _compiled

    def _fits(self, *args, grid, warmup=False, **kwargs):
        return triton._fits(self, args, grid, kwargs)

    def warmup(self, *args, grid, **kwargs):
        return _compiled

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")


def jit(fn=None, *, version=None, repr=None, launch_metadata=None, do_not_specialize=None, do_not_specialize_on_alignment=None,
        debug=None, noinline=None):
    def decorate(f):
        if isinstance(f, KernelInterface):
            raise NotImplementedError("triton.jit of a kernel")
        return JITFunction(f, version, do_not_specialize, do_not_specialize_on_alignment, debug, noinline, repr, launch_metadata)

    return decorate if fn is None else decorate(fn)


class Config:
    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None):
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override
        if ir_override is not None:
            raise NotImplementedError("triton.Config with ir_override")

    def __hash__(self):
        raise NotImplementedError("the hash of a triton.Config")

    def __eq__(self, other):
        return list(self.all_kwargs().items()) == list(other.all_kwargs().items()) and self.pre_hook == other.pre_hook

    def all_kwargs(self):
        options = {"num_warps": self.num_warps, "num_ctas": self.num_ctas, "num_stages": self.num_stages, "maxnreg": self.maxnreg}
        return {**self.kwargs, **{k: v for k, v in options.items() if v is not None}}

    def __str__(self):
        parts = [f"{k}: {v}" for k, v in self.kwargs.items()]
        parts += [f"num_warps: {self.num_warps}", f"num_ctas: {self.num_ctas}", f"num_stages: {self.num_stages}", f"maxnreg: {self.maxnreg}"]
        return ", ".join(parts)


def _memory():
    # The configurations chosen in each run, in a closure that programs cannot inspect.
    known = {}

    def recall(key, choose):
        key = triton._tuning() + key
        if key not in known:
            known[key] = choose()
        return known[key]

    return recall


class Autotuner(KernelInterface):
    # Nothing is timed, so the fastest configuration is not known. The judge has each of them chosen
    # in turn (triton._tuning). The hooks run where Triton runs them: around the runs that would be
    # timed, once per key, and not if there is a single configuration.
    def __init__(self, fn, configs, key, reset_to_zero, restore_value, pre_hook, post_hook, prune_configs_by, do_bench):
        self.fn = fn
        self._do_bench = do_bench
        self.configs = configs if configs else [Config({})]
        if len(self.configs) > 1000:
            raise ValueError(f"{len(self.configs)} configurations to choose from are more than the 1000 that are tried")
        self.keys = key
        self._recall = _memory()
        self.reset_to_zero = list(reset_to_zero) if reset_to_zero else []
        self.restore_value = list(restore_value) if restore_value else []
        self.restore_copies = {}
        self.pre_hook = pre_hook if pre_hook else self._reset
        self.post_hook = post_hook if post_hook else self._restore
        prune = prune_configs_by or {}
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0)
        self.early_config_prune = prune.get("early_config_prune")
        self.__name__ = fn.__name__
        self._nargs = None
        self._place = None

    @property
    def arg_names(self):
        return triton._arg_names(self)

    @property
    def best_config(self):
        # The fastest configuration is not known, and equal configurations are represented by the first.
        raise NotImplementedError("Autotuner.best_config")

    def _reset(self, kwargs, reset_only=False):
        for name in self.reset_to_zero:
            kwargs[name].zero_()
        if not reset_only:
            self.restore_copies = {name: kwargs[name].clone() for name in self.restore_value}

    def _restore(self, kwargs, exception):
        for name in self.restore_value:
            kwargs[name].copy_(self.restore_copies[name])
        self.restore_copies = {}

    def run(self, *args, **kwargs):
        self._nargs = dict(zip(self.arg_names, args))
        config = self._tune(args, kwargs) if len(self.configs) > 1 else self.configs[0]
        if config.pre_hook is not None:
            config.pre_hook({**self._nargs, **kwargs, **config.all_kwargs()})
        self._nargs = None
        return self.fn.run(*args, **kwargs, **config.all_kwargs())

    def _tune(self, args, kwargs):
        given = {**self._nargs, **kwargs}
        given = {k: v for k, v in given.items() if k in self.arg_names}
        key = [triton.language._value(given[k]) for k in self.keys if k in given and not hasattr(given[k], "dtype")]
        key += [str(v.dtype) for v in given.values() if hasattr(v, "dtype")]
        if self._place is None:
            self._place = triton._place()
        config, programs, text = self._recall(tuple(key), lambda: self._choose(args, kwargs))
        triton._tuned(programs, text, self._place)
        return config

    def _choose(self, args, kwargs):
        which, first = triton._tuning()
        pruned = self.prune_configs(kwargs)
        programs = self._programs(pruned, args, kwargs, 1000 if first or self._place else which + 1)
        # After every configuration had its run, each tuner is shifted by its place: tuners no longer choose in step.
        config = programs[(which + self._place * (which // len(programs))) % len(programs)] if programs else pruned[0]
        text = f"{self.__name__} with {config}"
        if first:
            triton._tuned(len(programs), text, self._place)
            self._bench(config, args, kwargs)
        return config, len(programs), text

    def _programs(self, configs, args, kwargs, most):
        # The configurations that compile and fit the GPU, the first of equal ones only, at most `most`.
        found, texts, names = [], [], self.arg_names
        for config in configs:
            conflicts = [name for name in kwargs if name in config.kwargs]
            if conflicts:
                raise ValueError(f"Conflicting meta-parameters: {', '.join(conflicts)}. Make sure that you don't re-define auto-tuned symbols.")
            # Equal means equal kernel arguments. Not so with heuristics, which see num_warps, and hooks, which see all.
            given = {k: v for k, v in config.all_kwargs().items() if k in names}
            text = str(given) if config.pre_hook is None and isinstance(self.fn, JITFunction) else ""
            triton._trying(f"{self.__name__} with {config}")
            if self.fn._fits(*args, **{**kwargs, **config.all_kwargs()}) and (not text or text not in texts):
                found.append(config)
                texts.append(text)
            if len(found) >= most:
                break
        triton._trying("")
        return found

    def _bench(self, config, args, kwargs):
        current = {**kwargs, **config.all_kwargs()}
        full_nargs = {**self._nargs, **current}

        def kernel_call():
            if config.pre_hook is not None:
                config.pre_hook(full_nargs)
            self.pre_hook(full_nargs)
            self.fn.run(*args, **current)
            self.post_hook(full_nargs, exception=None)

        if self._do_bench is None:
            kernel_call()
        else:
            # Triton takes the smallest timing, so timings must be comparable.
            timing = self._do_bench(kernel_call, quantiles=(0.5, 0.2, 0.8))
            timing < timing
        self.pre_hook(full_nargs, reset_only=True)

    def prune_configs(self, kwargs):
        pruned = self.configs
        if self.early_config_prune:
            pruned = self.early_config_prune(self.configs, self._nargs, **kwargs)
            if not pruned:
                raise RuntimeError("No valid autotuner configs after pruning. `early_config_prune` should return at least one config.")
        if self.perf_model:
            top_k = self.configs_top_k
            if isinstance(top_k, float) and top_k <= 1.0:
                top_k = int(len(self.configs) * top_k)
            elif not isinstance(top_k, int):
                raise TypeError("Error while pruning configs, top_k must be either 1) a float <= 1.0 or 2) an int")
            if len(pruned) > top_k:
                timed = [(self.perf_model(**self._nargs, **kwargs, **c.all_kwargs()), i) for i, c in enumerate(pruned)]
                pruned = [pruned[i] for _, i in sorted(timed)[:top_k]]
        return pruned

    def _fits(self, *args, **kwargs):
        config = self.configs[0]
        return self.fn._fits(*args, **{**kwargs, **config.all_kwargs()})

    def warmup(self, *args, **kwargs):
        return _compiled


def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None, pre_hook=None, post_hook=None, warmup=None,
             rep=None, use_cuda_graph=False, do_bench=None, cache_results=False):
    def decorate(fn):
        return Autotuner(fn, configs, key, reset_to_zero, restore_value, pre_hook, post_hook, prune_configs_by, do_bench)

    return decorate


class Heuristics(KernelInterface):
    def __init__(self, fn, values):
        self.fn = fn
        self.values = values
        self.__name__ = fn.__name__

    @property
    def arg_names(self):
        return triton._arg_names(self)

    def _decide(self, args, kwargs):
        for name, heuristic in self.values.items():
            kwargs[name] = heuristic({**dict(zip(self.arg_names, args)), **kwargs})
        return kwargs

    def run(self, *args, **kwargs):
        return self.fn.run(*args, **self._decide(args, kwargs))

    def _fits(self, *args, **kwargs):
        return self.fn._fits(*args, **self._decide(args, kwargs))


def heuristics(values):
    return lambda fn: Heuristics(fn, values)


class TritonError(Exception):
    pass


class CompilationError(TritonError):
    pass


class OutOfResources(TritonError):
    pass


def set_allocator(allocator):
    # A launch calls allocator(bytes, alignment, stream); one call here checks what it returns.
    memory = None if allocator is None else allocator(128, 128, 0)
    gives = isinstance(memory, torch.Tensor) and memory.is_cuda and memory.numel() * memory.element_size() >= 128
    triton._set_allocator(True if gives else None)


def constexpr_function(fn):
    return fn


__version__ = "3.6.0"


class _Target:
    def __init__(self, backend, arch, warp_size):
        self.backend = backend
        self.arch = arch
        self.warp_size = warp_size


class _Utils:
    def get_device_properties(self, device):
        p = torch.cuda.get_device_properties(device)
        return {"max_shared_mem": p.shared_memory_per_block_optin, "max_num_regs": p.regs_per_multiprocessor,
                "multiprocessor_count": p.multi_processor_count, "warpSize": p.warp_size}


class _Active:
    def __init__(self):
        self.utils = _Utils()

    def get_current_device(self):
        return 0

    def get_active_torch_device(self):
        return torch.device("cuda", 0)

    def get_current_target(self):
        major, minor = torch.cuda.get_device_capability()
        return _Target("cuda", 10 * major + minor, 32)


class _Driver:
    # triton.runtime.driver: one device and its properties.
    def __init__(self):
        self.active = _Active()


driver = _Driver()
