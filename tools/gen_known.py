#!/usr/bin/env python3
"""Writes src/torch/prelude/known.txt: public names of the real libraries, by which a program is told
"not supported here" instead of "no such attribute". Run with the environment of `make agree`:

    ~/.cache/tritonrl/venv/bin/python tools/gen_known.py [--check]

--check compares instead, and fails where the file differs."""
import importlib
import inspect
import pathlib
import sys

FILE = pathlib.Path(__file__).resolve().parent.parent / "src/torch/prelude/known.txt"
OWNERS = """collections einops functools itertools math numpy torch torch.Tensor torch.autograd torch.cuda
torch.distributed torch.distributions torch.fft torch.func torch.library torch.linalg torch.nn torch.nn.Module torch.nn.functional
torch.nn.init torch.nn.utils torch.optim torch.sparse torch.special triton""".split()


def owner(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        module, _, last = name.rpartition(".")
        return getattr(importlib.import_module(module), last)


def names():
    """Everything public of each owner that is no module itself; the modules of torch.nn too."""
    found = set()
    for name in OWNERS:
        of = owner(name)
        for member in dir(of):
            if not member.startswith("_") and (name == "torch.nn" or not inspect.ismodule(getattr(of, member, None))):
                found.add(f"{name}.{member}")
    return sorted(found)


def main():
    text = "".join(name + "\n" for name in names())
    if "--check" not in sys.argv:
        FILE.write_text(text)
        return 0
    kept, now = set(FILE.read_text().split()), set(text.split())
    for name in sorted(kept ^ now):
        print(("only in known.txt: " if name in kept else "not in known.txt: ") + name)
    return 1 if kept != now else 0


sys.exit(main())
