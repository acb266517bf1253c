"""Compiles every launch of a solution with real Triton, without a GPU: ModelNew is built and called, and each
launch becomes a cubin for sm_90. Grids and shared memory must be within the GPU's limits. Tensors have no
contents (device "meta") or, for constructors that need them, lie on the CPU; memory that a solution asks of "cuda"
is then on the CPU, too."""
import contextlib
import os
import sys

import torch
import torch.overrides
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGET = GPUTarget("cuda", 90, 32)
SHARED = 227 * 1024
TYPES = {torch.float32: "*fp32", torch.int64: "*i64", torch.bool: "*i1", torch.float16: "*fp16", torch.int32: "*i32"}
launches = []


def bound(fn, args, kwargs, config):
    """Parameters by name, and the options that are not parameters."""
    values = dict(zip((p.name for p in fn.params), args))
    options = {}
    for key, value in {**kwargs, **config}.items():
        (values if any(p.name == key for p in fn.params) else options)[key] = value
    return values, options


def record(fn, grid, args, kwargs, config):
    values, options = bound(fn, args, kwargs, config)
    launches.append((fn, tuple(grid(values)) if callable(grid) else tuple(grid), values, options))


class Launcher:
    def __init__(self, kernel, grid):
        self.kernel, self.grid = kernel, grid

    def __call__(self, *args, **kwargs):
        configs = getattr(self.kernel, "configs", None)
        for c in configs or [None]:
            extra = {**c.kwargs, "num_warps": c.num_warps, "num_stages": c.num_stages} if c else {}
            record(self.kernel.fn if configs else self.kernel, self.grid, args, kwargs, extra)


triton.runtime.jit.KernelInterface.__getitem__ = lambda self, grid: Launcher(self, grid)


def type_of(value):
    if isinstance(value, torch.Tensor):
        return TYPES[value.dtype]
    if isinstance(value, bool):
        return "u1"
    if isinstance(value, int):
        return "i32" if -2**31 <= value < 2**31 else "i64"
    return "fp32"


def compile_launch(fn, grid, values, options):
    signature, constants = {}, {}
    for p in fn.params:
        value = values[p.name]
        if p.is_constexpr or (isinstance(value, int) and value == 1):
            signature[p.name] = "constexpr"
            constants[p.name] = value
        else:
            signature[p.name] = type_of(value)
    limits = (2**31 - 1, 65535, 65535)
    if any(g < 1 or g > limit for g, limit in zip(grid, limits)):
        raise ValueError(f"grid {grid}")
    out = triton.compile(ASTSource(fn, signature, constants, {}), target=TARGET, options=options)
    if out.metadata.shared > SHARED:
        raise ValueError(f"{out.metadata.shared} bytes of shared memory")


def load(text, folder, name):
    path = os.path.join(folder, name + ".py")
    with open(path, "w") as f:
        f.write(text)
    module = {"__name__": name, "__file__": path}
    sys.modules[name] = type(sys)(name)
    exec(compile(text, path, "exec"), module)
    return module


def moved(value, device):
    if isinstance(value, (list, tuple)):
        return type(value)(moved(v, device) for v in value)
    if isinstance(value, dict):
        return {k: moved(v, device) for k, v in value.items()}
    return value.to(device) if isinstance(value, torch.Tensor) else value


def arguments(given):
    """Positional and keyword arguments: a list, or [[args], {kwargs}] as in KernelBook."""
    if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], dict):
        return given
    return given, {}


class OnCpu(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, fn, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if str(kwargs.get("device", "")).startswith("cuda"):
            kwargs["device"] = "cpu"
        return fn(*args, **kwargs)


def call(row, folder, device):
    launches.clear()
    name = "".join(c if c.isalnum() else "_" for c in row["id"])
    with torch.device(device), OnCpu() if device == "cpu" else contextlib.nullcontext():
        task = load(row["task"], folder, "task_" + name)
        solution = load(row["solution"], folder, "solution_" + name)
        args, kwargs = arguments(task["get_init_inputs"]())
        model = solution["ModelNew"](*args, **kwargs)
        # a module that draws random numbers is solved in evaluation mode
        given = moved(task["get_inputs"](), device)
        with torch.no_grad():
            model(*given)
    if not launches:
        raise ValueError("no launch")


def check(row, folder, devices=("meta",)):
    for device in devices:
        try:
            call(row, folder, device)
            break
        except Exception:
            if device == devices[-1]:
                raise
    for launch in launches:
        compile_launch(*launch)
