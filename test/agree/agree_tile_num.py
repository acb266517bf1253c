#!/usr/bin/env python3
"""Numbers of the tile machine against Triton: every case of test/tile/kernels (`# signature:`
lines) that runs clean is run again by Triton's interpreter on the same arguments (or, with
--gpu, by Triton on the GPU), and every element of every tensor is compared.

    agree_tile_num.py [--gpu] [--show N] [--folder FOLDER]... [--corpus FOLDER]... [--most N]

--folder takes kernels with `# signature:` lines, --corpus any Python files with kernels, whose
signatures are guessed.

Dots of fp32 are tf32 here and fp32 in the interpreter: compared at tf32's precision. bf16 in the
interpreter computes on bit patterns (a documented limitation): such cases are counted apart."""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("BUILD_DIR", ROOT / "build/release")) / "tool/tile_num"
COUNT = 16384
GRID = (1, 1, 1)

p = argparse.ArgumentParser()
p.add_argument("--gpu", action="store_true")
p.add_argument("--show", type=int, default=10)
p.add_argument("--folder", action="append", default=[])
p.add_argument("--corpus", action="append", default=[])
p.add_argument("--most", type=int, default=0)
p.add_argument("--seed", type=int, default=1)
args = p.parse_args()
if not args.gpu:
    os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import torch
import triton
import triton.language as tl

sys.path.insert(0, str(Path(__file__).parent))
import _tile_corpus as corpus

DEVICE = "cuda" if args.gpu else "cpu"
TORCH = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16, "fp64": torch.float64, "i1": torch.bool, "u1": torch.bool,
         "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u16": torch.uint16,
         "u32": torch.uint32, "u64": torch.uint64, "fp8e4nv": torch.float8_e4m3fn, "fp8e5": torch.float8_e5m2}


def split_items(text):
    out, depth, last = [], 0, 0
    for i, ch in enumerate(text + ","):
        depth += (ch in "([") - (ch in ")]")
        if ch == "," and not depth:
            out.append(text[last:i].strip())
            last = i + 1
    return [x for x in out if x]


def tensor(name, k):
    """As tile_num.c makes it."""
    dt = TORCH[name]
    h = (np.arange(COUNT, dtype=np.uint64) * 2654435761 + k * 40503 + 12345).astype(np.uint32) >> np.uint32(8)
    if dt.is_floating_point:
        v = torch.from_numpy((h % 2001).astype(np.float32).astype(np.float64) / 1000.0 - 1.0)
        return v.to(dt)
    return torch.from_numpy((h & 1 if dt == torch.bool else h % 8).astype(np.int64)).to(dt)


def arguments(fn, module, signature):
    given = dict(x.split("=", 1) for x in split_items(signature))
    given = {k.strip(): v.strip() for k, v in given.items()}
    kwargs, tensors = {}, []
    for k, name in enumerate(fn.arg_names):
        if name not in given:
            continue
        v = given[name]
        m = re.match(r"^\*k?(\w+)$", v)
        if m:
            kwargs[name] = tensor(m.group(1), k).to(DEVICE)
            tensors.append(kwargs[name])
        elif v in TORCH or re.match(r"^[iu]\d+$", v):
            kwargs[name] = True if v in ("i1", "u1") else 0.75 if v.startswith(("fp", "bf")) else 50
        else:
            kwargs[name] = getattr(module, v) if v.isidentifier() and hasattr(module, v) else eval(v, {"tl": tl, "inf": float("inf"), "nan": float("nan")})
    return kwargs, tensors


def load(path, cache={}):
    if path not in cache:
        import importlib.util
        spec = importlib.util.spec_from_file_location(f"num_case_{len(cache)}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cache[path] = module
    return cache[path]


def compare(want, got, loose):
    """The largest difference beyond tolerance, or None."""
    w, g = want.cpu(), got
    if not w.dtype.is_floating_point:
        return None if torch.equal(w, g) else "integers differ at %d places" % int((w != g).sum())
    w, g = w.double(), g.double()
    tol = {torch.float64: 1e-6, torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(want.dtype, 0.13)
    tol = max(tol, 5e-3) if loose else tol
    ok = torch.isclose(w, g, rtol=tol, atol=tol, equal_nan=True)
    if ok.all():
        return None
    i = int((~ok).nonzero()[0])
    return "element %d is %r, not %r" % (i, float(g[i]), float(w[i]))


def ours(cases, folder):
    lines = "".join("%s\t%s\t%s\t%s\t%s\n" % (c.path, c.kernel, c.signature, ",".join(map(str, GRID)), folder / str(i)) for i, c in enumerate(cases))
    r = subprocess.run([TOOL], input=lines, capture_output=True, text=True)
    out = r.stdout.splitlines()
    if len(out) != len(cases):
        raise SystemExit(f"tile_num ended at case {len(out)}: {cases[len(out)]}")
    return out


def accepted(case):
    line = "%s\t%s\t%s\t1\t/dev/null\n" % (case.path, case.kernel, case.signature)
    r = subprocess.run([TOOL], input=line, capture_output=True, text=True)
    return {"accept": r.stdout.startswith(("ok", "fault"))}


def too_long(*_):
    raise TimeoutError


def theirs(case):
    signal.alarm(20)
    module = load(case.path)
    fn = getattr(module, case.kernel)
    kwargs, tensors = arguments(fn, module, case.signature)
    fn[GRID](**kwargs)
    signal.alarm(0)
    return tensors


def main():
    cases = []
    signal.signal(signal.SIGALRM, too_long)
    for f in args.folder or ([] if args.corpus else [ROOT / "test/tile/kernels"]):
        cases += corpus.committed(Path(f))
    scratch = tempfile.TemporaryDirectory()
    for f in args.corpus:
        cases += corpus.harvest(Path(f), Path(scratch.name), accepted, args.most, random.Random(args.seed))
    why = Counter()
    same = differ = bf16 = cannot = unclean = 0
    with tempfile.TemporaryDirectory() as tmp:
        tmp = Path(tmp)
        for i, (case, status) in enumerate(zip(cases, ours(cases, tmp))):
            if status != "ok":
                unclean += 1
                why[" ".join(status.split()[:2 if status.startswith("fault") else 1])] += 1
                if args.show > 20:
                    print(case.kernel, case.signature, "->", status)
                continue
            if case.kernel in corpus.NO_ONE_VALUE:
                cannot += 1
                continue
            source = Path(case.path).read_text()
            body = source[source.index(f"def {case.kernel}("):].split("\n@triton.jit")[0]
            try:
                tensors = theirs(case)
            except Exception as e:
                signal.alarm(0)
                cannot += 1
                if args.show > 20:
                    print("cannot:", case.kernel, case.signature, repr(e)[:120])
                continue
            data = (tmp / str(i)).read_bytes()
            at, wrong = 0, None
            for t in tensors:
                n = t.numel() * t.element_size()
                got = torch.frombuffer(bytearray(data[at:at + n]), dtype=t.dtype)
                at += n
                wrong = wrong or compare(t, got, "dot" in body)
            if not wrong:
                same += 1
            elif not args.gpu and ("bf16" in case.signature or "bfloat16" in case.signature + body or "float8" in case.signature + body or "fp8" in case.signature):
                bf16 += 1
            else:
                differ += 1
                if differ <= args.show:
                    print(f"{Path(case.path).name} {case.kernel} [{case.signature}]: {wrong}")
    if why:
        print("not run:", ", ".join(f"{k} {n}" for k, n in why.most_common()))
    print(f"agree_tile_num: {len(cases)} cases, {same} agree, {differ} differ, {bf16} differ in bf16 or fp8 (interpreter), "
          f"{cannot} not comparable or not run by the other side, {unclean} refused or faulting here")
    return differ != 0


if __name__ == "__main__":
    sys.exit(main())
