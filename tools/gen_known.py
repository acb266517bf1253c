#!/usr/bin/env python3
"""Writes src/torch/prelude/known.txt: the modules of CPython's standard library, PyTorch, Triton, numpy and einops, and the names in
those modules that programs can import here. By it a program is told "not supported here" where the real thing is only missing
here, and "no such name" where it is nowhere. Run with the environment of `make agree`:

    ~/.cache/tritonrl/venv/bin/python -W ignore tools/gen_known.py [--check]

A line is an owner and what is in it, a module with a slash behind its name, or a plus where something else of that name hides it:
"OWNER: NAME MODULE/ ..." all of it, "OWNER/ MODULE/ ..." the modules only. The owner of a line that starts with the slash is Python itself.

--check compares instead, and fails where the file differs."""
import importlib
import importlib.util
import inspect
import pathlib
import pkgutil
import re
import sys

TREE = pathlib.Path(__file__).resolve().parent.parent
FILE = TREE / "src/torch/prelude/known.txt"
BUILDS = {"torch._C"}    # what is in these differs from one build of PyTorch to the next
OLDER = "torch._inductor."     # kernels that other versions of PyTorch made import from it
LIBRARIES = ["torch", "triton", "numpy", "einops"]
# What binding rows alone make a module of, and the classes whose members programs ask for.
OWNERS = """math random torch.Tensor torch.backends torch.nn.Module torch.onnx torch.random torch.utils triton.language.math
triton.language.extra triton.language.extra.cuda triton.language.extra.libdevice
triton.language.extra.cuda.libdevice triton.language.standard triton.language.random""".split()


def owners():
    """The modules that are here: of the prelude, under second names and below those, of binding rows."""
    prelude = re.findall(r'^PRELUDE\(\w+, "([\w.]+)"', (TREE / "src/torch/prelude.def").read_text(), re.M)
    second = re.findall(r"^IMPORT_ALIAS\(([\w.]+),", (TREE / "src/interp/import.def").read_text(), re.M)
    below = {m for m in modules() if any(m.startswith(s + ".") for s in second) and not m.startswith(OLDER)}
    return sorted({*OWNERS, *prelude, *second, *below} - BUILDS)


def resolve(name):
    """The module or class of a dotted name; None: the real libraries have none."""
    try:
        return importlib.import_module(name)
    except ImportError:
        module, _, last = name.rpartition(".")
        return getattr(resolve(module), last, None) if module else None


def submodules(path, prefix):
    for found in pkgutil.iter_modules(path):
        yield prefix + found.name
        if found.ispkg:
            yield from submodules([f"{p}/{found.name}" for p in path], prefix + found.name + ".")


def modules():
    """Dotted names of everything that can be imported, without importing all of it."""
    found = set(sys.stdlib_module_names) | set(LIBRARIES) | {"os.path"}    # made by code, no file
    for name in LIBRARIES:
        found |= set(submodules(importlib.import_module(name).__path__, name + "."))
        found |= {m for m in sys.modules if m.startswith(name + ".")}    # made by code, no files
    for name in sys.stdlib_module_names:
        spec = importlib.util.find_spec(name)
        found |= set(submodules(spec and spec.submodule_search_locations or [], name + "."))
    return {name for name in found if ".test" not in name or name.partition(".")[0] in LIBRARIES}


def table():
    """owner -> (the mark behind it, what is in it)"""
    lines = {}
    for name in owners():
        of = resolve(name)
        if of is not None:
            lines[name] = (":", {m for m in dir(of) if not m.startswith("__")})
    lines[""] = ("/", set())
    for module in modules():
        owner, _, last = module.rpartition(".")
        mark, names = lines.setdefault(owner, ("/", set()))
        hidden = mark == ":" and last in names and not inspect.ismodule(getattr(resolve(owner), last))
        names.discard(last)
        names.add(last + ("+" if hidden else "/"))
    return lines


def main():
    text = "".join(f"{owner}{mark} {' '.join(sorted(names))}\n" for owner, (mark, names) in sorted(table().items()))
    if "--check" not in sys.argv:
        FILE.write_text(text)
        return 0
    kept, now = FILE.read_text().splitlines(), text.splitlines()
    for line in sorted(set(kept) ^ set(now)):
        print(("only in known.txt: " if line in kept else "not in known.txt: ") + line[:200])
    return 1 if kept != now else 0


sys.exit(main())
