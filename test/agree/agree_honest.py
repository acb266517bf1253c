#!/usr/bin/env python3
"""The honest candidates of test/honest are honest: Triton's own interpreter runs each of them and
gives what PyTorch gives for its task. Exit code 0: all of them. NAME...: only those."""
import os

os.environ["TRITON_INTERPRET"] = "1"
import importlib.util
import re
import sys
import tempfile
from pathlib import Path

import torch
import triton

HERE = Path(__file__).resolve().parents[1] / "honest"
ROWS_MOST = 64          # of a task's batch: the interpreter takes long, and rows are alike
ELEMENTS_MOST = 1 << 20 # of an input of images or heads, or of one that is alone, for the same reason


class FirstConfig:
    """An autotuner without a GPU to measure on: the first configuration it is."""

    def __init__(self, fn, config):
        self.fn, self.config = fn, config

    def __getitem__(self, grid):
        def launch(*args, **kwargs):
            given = {k: v for k, v in self.config.kwargs.items() if k not in kwargs}
            return self.fn[grid](*args, **kwargs, **given)
        return launch


triton.autotune = lambda configs, key, **more: lambda fn: FirstConfig(fn, configs[0])
torch.library.wrap_triton = lambda kernel: kernel          # PyTorch does not know the interpreter's functions


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def members(x):
    return list(x.values()) if isinstance(x, dict) else list(x) if isinstance(x, (tuple, list)) else [x]


def close(got, want):
    if isinstance(got, dict) and list(got) != list(want):
        return False
    got, want = members(got), members(want)
    if len(got) != len(want):
        return False
    for g, w in zip(got, want):
        if not torch.is_tensor(w):
            if type(g) is not type(w) or g != w:
                return False
            continue
        if g.shape != w.shape or g.dtype != w.dtype:
            return False
        if not w.dtype.is_floating_point:
            if not torch.equal(g, w):
                return False
        elif not torch.allclose(g, w, rtol=1e-4, atol=1e-5 * max(1.0, w.abs().max().item())):
            return False
    return True


def turned_weights(model, other):
    """Parameters of the other that start as one of the model's transposed, in the same shape."""
    return {id(q) for q in other.parameters() for p in model.parameters()
            if q.ndim == 2 and p.shape == q.shape and torch.equal(p.T, q)}


def copy_weights(model, other, turned):
    """By name where names and shapes are the same, else the next of the same shape, or of as many elements."""
    if {n: t.shape for n, t in model.state_dict().items()} == {n: t.shape for n, t in other.state_dict().items()}:
        other.load_state_dict(model.state_dict(), strict=True)
        return
    left = list(model.parameters())
    for q in other.parameters():
        p = next((p for p in left if p.shape == q.shape), None)
        p = next(p for p in left if p.numel() == q.numel()) if p is None else p
        left = [other_p for other_p in left if other_p is not p]
        q.data = (p.data.T if id(q) in turned else p.data).clone(memory_format=torch.contiguous_format).reshape(q.shape)
    assert not left, "parameters that the candidate does not have"


def few_rows(inputs):
    """As many of the batch as are few enough, where all inputs have one: a matrix that is alone has."""
    first = inputs[0]
    least = 2 if len(inputs) == 1 else 3
    if any(not torch.is_tensor(x) or x.ndim < least or len(x) != len(first) for x in inputs):
        return inputs
    rows = max(1, ELEMENTS_MOST * len(first) // first.numel())
    return [x[:rows] for x in inputs]


def task_of(text):
    return HERE / "tasks" / (re.search(r"^# task: (\w+)$", text, re.M).group(1) + ".py")


def not_run(text):
    """Why the interpreter cannot run a candidate, or None."""
    for word in ("libdevice", "inline_asm_elementwise"):
        if word in text:
            return "has no " + word
    return "takes minutes for its task" if "# interpreter: too large" in task_of(text).read_text() else None


def run(path, folder):
    text = path.read_text()
    task = load(task_of(text))
    task.batch = min(getattr(task, "batch", 0), ROWS_MOST)
    here = Path(folder) / path.name          # Triton reads sources from files; there is no CUDA here
    here.write_text(text.replace(".is_cuda", ".is_cpu"))
    candidate = load(here)
    torch.manual_seed(0)
    model = task.Model(*task.get_init_inputs())
    torch.manual_seed(0)
    other = candidate.ModelNew(*task.get_init_inputs())
    turned = turned_weights(model, other)
    for p in model.parameters():             # nothing may hide behind zeros and ones
        p.data += torch.randn_like(p) * 0.1
    copy_weights(model, other, turned)
    torch.manual_seed(1)
    inputs = few_rows(task.get_inputs())
    with torch.no_grad():
        return close(other(*[x.clone() for x in inputs]), model(*inputs))


def main():
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(HERE.glob("*.py")):
            if sys.argv[1:] and path.stem not in sys.argv[1:]:
                continue
            why = not_run(path.read_text())
            if why:
                print(f"skip {path.stem}: the interpreter {why}")
                skipped += 1
                continue
            try:
                ok, why = run(path, folder), "another result"
            except Exception as e:
                ok, why = False, f"{type(e).__name__}: {e}"
            passed, failed = passed + ok, failed + (not ok)
            if not ok:
                print(f"{path.stem}: {why[-300:]}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
