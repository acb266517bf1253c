#!/usr/bin/env python3
"""Shared memory as real Triton allots it against the estimate, over launches of whole candidates: ModelNew built
and called at the task's own sizes on tensors without contents, every launch compiled for sm_90 by both.
--jsonl FILE: lines with `id`, `task`, `candidate`; without it, the candidates of test/honest."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = pathlib.Path(__file__).parent
TARGET = GPUTarget("cuda", 90, 32)
TYPES = {torch.float32: "*fp32", torch.float16: "*fp16", torch.bfloat16: "*bf16", torch.float64: "*fp64", torch.int64: "*i64",
         torch.int32: "*i32", torch.int8: "*i8", torch.uint8: "*u8", torch.bool: "*i1"}
WITHIN, SHARE = 0.05, 0.95
launches = []


class Launcher:
    """Takes a launch down, once for each configuration of an autotuner."""

    def __init__(self, kernel, grid):
        self.kernel, self.grid = kernel, grid

    def __call__(self, *args, **kwargs):
        fn, configs = self.kernel, [{}]
        while not isinstance(fn, triton.JITFunction):
            if hasattr(fn, "configs"):
                configs = [{**c.kwargs, "num_warps": c.num_warps, "num_stages": c.num_stages} for c in fn.configs]
            fn = fn.fn
        for config in configs:
            values = dict(zip((p.name for p in fn.params), args)) | kwargs | config
            values = {p.name: p.default for p in fn.params if p.has_default} | values
            launches.append((fn, values))


triton.runtime.jit.KernelInterface.__getitem__ = lambda self, grid: Launcher(self, grid)
# Host code asks whether its tensors are on a GPU; those without contents are wherever they must be.
torch.Tensor.is_cuda = property(lambda self: True)
torch.Tensor.cuda = torch.nn.Module.cuda = lambda self, *args, **kwargs: self


def describe(fn, values):
    """Triton's signature, constants and attributes, and the same as the text that tile_check reads."""
    signature, constants, attributes, text = {}, {}, {}, []
    for i, p in enumerate(fn.params):
        v = values[p.name]
        if p.is_constexpr or v is None or (isinstance(v, int) and not isinstance(v, bool) and v == 1):
            signature[p.name] = "constexpr"
            constants[p.name] = v
            text.append(f"{p.name}={'tl.' + str(v).split('.')[-1] if isinstance(v, (torch.dtype, triton.language.dtype)) else repr(v)}")
            continue
        if isinstance(v, torch.Tensor):
            signature[p.name] = TYPES[v.dtype]
        else:
            signature[p.name] = "u1" if isinstance(v, bool) else "fp32" if isinstance(v, float) else "i32" if abs(v) < 2**31 else "i64"
        if isinstance(v, torch.Tensor) or (isinstance(v, int) and v % 16 == 0):
            attributes[(i,)] = [["tt.divisibility", 16]]
        text.append(f"{p.name}={signature[p.name]}")
    return signature, constants, attributes, ", ".join(text)


def allotted(fn, values):
    """Bytes by real Triton and the line for tile_check; None where it does not compile."""
    signature, constants, attributes, text = describe(fn, values)
    options = {k: values[k] for k in ("num_warps", "num_stages") if k in values}
    try:
        out = triton.compile(ASTSource(fn, signature, constants, attributes), target=TARGET, options=options)
    except Exception:
        return None, None
    extra = f"\t{options.get('num_warps', 4)} {options.get('num_stages', 3)}"
    return out.metadata.shared, f"{fn.fn.__globals__['__file__']}\t{fn.__name__}\t{text}{extra}"


def load(text, folder, name):
    path = os.path.join(folder, name + ".py")
    pathlib.Path(path).write_text(text)
    module = {"__name__": name, "__file__": path}
    sys.modules[name] = type(sys)(name)
    exec(compile(text, path, "exec"), module)
    return module


def without_contents(value):
    return value.to("meta") if isinstance(value, torch.Tensor) else value


def collect(row, folder, number):
    launches.clear()
    try:
        with torch.device("meta"):
            task = load(row["task"], folder, f"task_{number}")
            solution = load(row["candidate"], folder, f"candidate_{number}")
            inputs = list(map(without_contents, task["get_inputs"]()))
            solution["ModelNew"](*task["get_init_inputs"]())(*inputs)
    except BaseException as e:      # what the host code asks of a GPU is not there; launches before it count
        print(f"{row['id']}: {type(e).__name__}", file=sys.stderr)
    return list(launches)


def honest():
    for path in sorted((HERE.parent / "honest").glob("*.py")):
        text = path.read_text()
        task = next(line[len("# task: "):] for line in text.splitlines() if line.startswith("# task: "))
        yield {"id": path.stem, "task": (HERE.parent / "honest" / "tasks" / f"{task}.py").read_text(), "candidate": text}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jsonl")
    parser.add_argument("--every", type=int, default=1, help="of the candidates, each so-manyth")
    parser.add_argument("--show", action="store_true", help="every kernel that is off")
    a = parser.parse_args()
    rows = list(map(json.loads, open(a.jsonl))) if a.jsonl else list(honest())
    tool = subprocess.Popen([os.path.join(os.environ["BUILD_DIR"], "tool", "tile_check")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    seen, good, total, refused = set(), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        for number, row in enumerate(rows[::a.every]):
            for fn, values in collect(row, folder, number):
                try:
                    key = (fn.src, describe(fn, values)[3], values.get("num_warps"), values.get("num_stages"))
                except Exception:
                    continue
                if key in seen:
                    continue
                seen.add(key)
                real, line = allotted(fn, values)
                if real is None:
                    continue
                tool.stdin.write(line + "\n")
                tool.stdin.flush()
                answer = json.loads(tool.stdout.readline())
                if "shared" not in answer:
                    continue
                total += 1
                ours = answer["shared"]
                right = abs(ours - real) <= WITHIN * max(real, 1024)
                good += right
                refused += ours > 232448 >= real
                if a.show and not right:
                    print(f"{row['id']} {fn.__name__}: {ours}, real {real}: {line.split(chr(9), 2)[2]}")
    bad = not total or good < SHARE * total or refused
    print(f"{total} kernels, {good} within {100 * WITHIN:.0f} % ({100 * good / max(total, 1):.1f} %), {refused} refused that fit")
    print(f"{good} passed, {int(bool(bad))} failed, 0 skipped")
    return bool(bad)


sys.exit(main())
