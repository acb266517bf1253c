#!/usr/bin/env python3
"""Values of kernels: the tile machine against Triton's interpreter, on the same inputs, for the
kernels under test/tile/kernels that the interpreter can run. What is stored must agree within
rounding. bf16 and fp8 are left out (the interpreter computes on their bit patterns), and so are
random order (atomics' return values) and undefined lanes.

    agree_tile_values.py [--only REGEX] [--show N]
"""
import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parent))
import warnings

import numpy as np
import torch
import triton.language as tl

import _tile_corpus as corpus

warnings.filterwarnings("ignore")
np.seterr(all="ignore")
ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("BUILD_DIR", ROOT / "build/release")) / "tool/tile_eval"
TORCH = {"fp16": torch.float16, "fp32": torch.float32, "fp64": torch.float64, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32,
         "i64": torch.int64, "u8": torch.uint8, "i1": torch.bool}
COUNT, OFFSET = 8192, 64
# What has no one answer: undefined values and lanes, divisions by zero, combines that are not
# associative; and where the interpreter runs Python instead of Triton's rules (`and`, fp8, bf16).
SKIP = re.compile(r"loop_variable_after|atomic_exchange|atomic_extremes|while_scalar|while_and|swizzles|scaled|prints|asserts|"
                  + "|".join(corpus.NO_ONE_VALUE))


def split_items(text):
    out, depth, quote, last = [], 0, None, 0
    for i, ch in enumerate(text):
        if quote:
            quote = None if ch == quote else quote
        elif ch in "'\"":
            quote = ch
        elif ch in "([":
            depth += 1
        elif ch in ")]":
            depth -= 1
        elif ch == "," and not depth:
            out.append(text[last:i])
            last = i + 1
    out.append(text[last:])
    return [x.strip() for x in out if x.strip()]


def load(path, cache={}):
    if path not in cache:
        spec = importlib.util.spec_from_file_location(f"values_{len(cache)}", path)
        cache[path] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cache[path])
    return cache[path]


def make(dtype, rng):
    if dtype == torch.bool:
        return torch.from_numpy(rng.integers(0, 2, COUNT).astype(bool))
    if dtype.is_floating_point:
        return torch.from_numpy(rng.uniform(0.1, 2, COUNT)).to(dtype)
    return torch.from_numpy(rng.integers(1, 9, COUNT)).to(dtype)


def bind(case, module, fn, rng):
    """Arguments for both sides, or None when the interpreter cannot take them."""
    given = {k.strip(): v.strip() for k, v in (x.split("=", 1) for x in split_items(case.signature))}
    both = []
    for name in fn.arg_names:
        if name not in given:
            return None
        v = given[name]
        if v.startswith("*"):
            if v[1:] not in TORCH:
                return None
            both.append((name, "tensor", v[1:], make(TORCH[v[1:]], rng)))
        elif re.match(r"^(i32|i64)$", v):
            both.append((name, "int", None, 10))
        elif v == "fp32":
            both.append((name, "float", None, 0.75))
        elif re.match(r"^(i1|u\d+|i\d+|fp\d+|bf16)$", v):
            return None
        elif v in ("tl.bfloat16", "tl.float8e5", "tl.float8e4nv"):
            return None
        elif v.startswith("tl."):
            both.append((name, "dtype", v[3:], getattr(tl, v[3:])))
        elif v.isidentifier() and hasattr(module, v):
            both.append((name, "fn", v, getattr(module, v)))
        else:
            value = eval(v)
            kind = "none" if value is None else type(value).__name__
            both.append((name, kind, None, value))
    return both


def ours(p, case, both, tmp):
    args, files = [], []
    for name, kind, extra, value in both:
        a = {"name": name}
        if kind == "tensor":
            path = tmp / f"{len(files)}.bin"
            path.write_bytes(value.numpy().tobytes())
            files.append((path, value))
            a |= {"tensor": str(path), "dtype": extra, "count": COUNT, "offset": OFFSET}
        elif kind in ("dtype", "fn"):
            a[kind] = extra
        elif kind == "none":
            a["none"] = True
        else:
            a[kind] = value
        args.append(a)
    p.stdin.write(json.dumps({"path": case.path, "kernel": case.kernel, "grid": [2, 1, 1], "args": args}) + "\n")
    p.stdin.flush()
    answer = p.stdout.readline().strip()
    return answer, [torch.from_numpy(np.frombuffer(path.read_bytes(), dtype=v.numpy().dtype).copy()) for path, v in files]


def close(a, b, loose):
    if a.dtype == torch.bool:
        return bool((a == b).all())
    x, y = a.double(), b.double()
    if not a.dtype.is_floating_point:
        return bool((x == y).all())
    tol = 2e-2 if loose or a.dtype == torch.float16 else 1e-4
    good = torch.isclose(x, y, rtol=tol, atol=tol, equal_nan=True)
    return bool(good.all())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--only")
    ap.add_argument("--show", type=int, default=20)
    args = ap.parse_args()
    p = subprocess.Popen([str(TOOL)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    compared = skipped = 0
    wrong = []
    with tempfile.TemporaryDirectory() as tmp:
        for case in corpus.committed(ROOT / "test/tile/kernels"):
            if SKIP.search(case.kernel) or (args.only and not re.search(args.only, case.kernel)):
                continue
            module = load(case.path)
            fn = getattr(module, case.kernel)
            rng = np.random.default_rng(zlib.crc32(f"{case.kernel}{case.signature}".encode()))
            both = bind(case, module, fn, rng)
            if both is None:
                skipped += 1
                continue
            answer, got = ours(p, case, both, Path(tmp))
            if answer != "ok":
                skipped += 1     # refused: the comparison of front ends is about that
                continue
            want = [v.clone() for _, kind, _, v in both if kind == "tensor"]
            views, it = [], iter(want)
            for name, kind, extra, value in both:
                views.append(next(it)[OFFSET:] if kind == "tensor" else value)
            try:
                fn[(2, 1, 1)](*views)
            except Exception as e:  # the interpreter is plain Python and refuses other things
                skipped += 1
                continue
            compared += 1
            loose = "dot" in Path(case.path).name
            if not all(close(a, b, loose) for a, b in zip(want, got)):
                wrong.append((case, [(int((a.double() != b.double()).sum()), a[(a.double() != b.double())][:4].tolist(), b[(a.double() != b.double())][:4].tolist())
                                     for a, b in zip(want, got)]))
    for case, what in wrong[:args.show]:
        print(f"--- {case.path} {case.kernel} {case.signature}\n    {what}")
    print(f"agree_tile_values: {compared} compared, {len(wrong)} differ, {skipped} not comparable")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
