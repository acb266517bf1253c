"""Real Triton compiles the generator's solutions: pairs as they are drawn, ModelNew built and run at the
task's own sizes on tensors without contents, every launch compiled to a cubin for sm_90. Grids and
shared memory must be within the GPU's limits."""
import json
import os
import subprocess
import sys
import tempfile

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

COUNT = int(os.environ.get("GEN_COUNT", "60"))
SEED = os.environ.get("GEN_SEED", "31")
TARGET = GPUTarget("cuda", 90, 32)
SHARED = 227 * 1024
TYPES = {torch.float32: "*fp32", torch.int64: "*i64", torch.bool: "*i1", torch.float16: "*fp16"}
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


def without_contents(value):
    return value.to("meta") if isinstance(value, torch.Tensor) else value


def check(row, folder):
    launches.clear()
    name = row["id"].replace("-", "_")
    with torch.device("meta"):
        task = load(row["task"], folder, "task_" + name)
        solution = load(row["solution"], folder, "solution_" + name)
        model = solution["ModelNew"](*task["get_init_inputs"]())
        model(*map(without_contents, task["get_inputs"]()))
    if not launches:
        raise ValueError("no launch")
    for launch in launches:
        compile_launch(*launch)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        rows = subprocess.run([os.environ["TRITONRL"], "tasks", "--no-verify", "--quiet", "--level", "1,2,2,3", "--split", "all",
                               "--count", str(COUNT), "--seed", SEED, "--out", "-"], check=True, capture_output=True, text=True).stdout
        for row in map(json.loads, rows.splitlines()):
            try:
                check(row, folder)
            except Exception as e:
                failed += 1
                print(f"{row['id']} ({row['ops']}): {type(e).__name__}: {str(e)[-400:]}")
    print(f"{COUNT - failed} passed, {failed} failed, 0 skipped")
    return failed != 0


sys.exit(main())
