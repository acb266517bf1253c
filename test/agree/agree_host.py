#!/usr/bin/env python3
"""The host engine against CPython and PyTorch.

1. test/host/*.py: what our interpreter prints equals what CPython prints (and the committed
   .out files).
2. KernelBench problems, where KERNELBENCH points at its folder of level1, level2, level3 (not
   part of this tree): each task at a legal smaller size (constants of get_inputs alone), same
   seed: inputs and weights equal PyTorch's (bit for bit where drawn by rand and uniform_, 4 ulp
   where by randn and normal_), outputs within fp32 rounding of PyTorch's, measured against an
   fp64 run; our fp64 run equals PyTorch's. Where the weights alone would not fit into MEMORY the
   model's own constants are cut too, and the line says so.

usage: agree_host.py [--build build/release] [--kernelbench DIR] [--levels 1,2,3] [--only N,..] [-v]
                     [--size N] [--seed N] [--table FILE]
Exit code 0: all agree. 77: nothing to compare (skipped)."""
import argparse
import ast
import glob
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
# A problem agrees if its error against an fp64 run is at most FACTOR times PyTorch's own, or
# below FLOOR of the output's scale: a few fp32 roundings.
FACTOR, FLOOR = 4.0, 2e-6
# The fp64 runs do the same operations on the same values (weights and inputs of one side are
# given to the other) and differ in the order of sums only. Each output then differs by about
# u * sqrt(K) for a sum of K terms, times the layers it passes through: 1.1e-16 * sqrt(65536) *
# 30 = 8e-13 for the longest sums and deepest models here.
ORACLE = 1e-12
ULP = 4
MEMORY = 2600        # MB of one model with its inputs in fp32: six times that in all, with fp64
CUTS = (4096, 1024, 256)


def language(build):
    """Our printed output against CPython's, file by file."""
    failed = 0
    files = sorted(glob.glob(os.path.join(TREE, "test/host/*.py")))
    for path in files:
        want = subprocess.run([sys.executable, "-W", "ignore", path], capture_output=True, text=True).stdout
        got = subprocess.run([os.path.join(build, "tool/host_py"), path], capture_output=True, text=True)
        with open(path[:-3] + ".out") as f:
            kept = f.read()
        if not want == got.stdout == kept:
            failed += 1
            print(f"FAIL {os.path.basename(path)}: printed text differs {got.stderr.strip()}")
    print(f"language: {len(files)} files, {failed} differ")
    return failed


def ulps(a, b):
    import torch

    if a.dtype != torch.float32:
        return 0 if torch.equal(a, b) else 1 << 30
    x, y = a.contiguous().view(torch.int32).long(), b.contiguous().view(torch.int32).long()
    x = torch.where(x < 0, -(x & 0x7FFFFFFF), x)
    y = torch.where(y < 0, -(y & 0x7FFFFFFF), y)
    return int((x - y).abs().max()) if x.numel() else 0


def compare_drawn(want, got, what):
    """Inputs and weights: equal, or within ULP where the draws are normal."""
    import torch

    worst, bad = 0, []
    for name, t in want.items():
        if name not in got:
            bad.append(f"{what} {name} is missing")
        elif got[name].shape != t.shape or got[name].dtype != t.dtype:
            bad.append(f"{name}: {tuple(got[name].shape)} {got[name].dtype}, not {tuple(t.shape)} {t.dtype}")
        elif not torch.equal(got[name], t.contiguous()):
            n = ulps(got[name], t)
            if n > ULP and error_of(got[name], t) > FLOOR:      # some inputs are computed, not only drawn
                bad.append(f"{name}: differs by {n} ulp")
            worst = max(worst, min(n, ULP + 1))
    return worst, bad


def error_of(a, exact, scale=None):
    """Largest difference relative to a scale, which is that of the exact result unless given."""
    import torch

    a, exact = a.double(), exact.double()
    same = (a == exact) | (a.isnan() & exact.isnan())
    if a.numel() == 0 or bool(same.all()):
        return 0.0
    if scale is None:
        finite = exact[exact.isfinite()]
        scale = float(finite.abs().max()) if finite.numel() else 1.0
    difference = torch.where(same, torch.zeros_like(a), (a - exact).abs())
    return float(difference.nan_to_num(nan=float("inf")).max()) / (scale or 1.0)


def compare_outputs(want, got, exact, scale):
    """(our error, PyTorch's error, what is wrong) over all outputs."""
    ours = theirs = 0.0
    bad = [f"{name} is missing" for name in want if name not in got]
    for name, t in want.items():
        if name not in got:
            continue
        if got[name].shape != t.shape or got[name].dtype != t.dtype:
            bad.append(f"{name}: {tuple(got[name].shape)} {got[name].dtype}, not {tuple(t.shape)} {t.dtype}")
            continue
        a, b = error_of(got[name], exact[name], scale[name]), error_of(t, exact[name], scale[name])
        ours, theirs = max(ours, a), max(theirs, b)
        if a > max(FACTOR * b, FLOOR):
            bad.append(f"{name}: relative error {a:.2e}, PyTorch's {b:.2e}")
    return ours, theirs, bad


def cuts(source, most):
    """Constants above `most`, cut to it (a batch to 2): for models too large for this machine."""
    from _host_task import constants

    found = []
    for name, value, _ in constants(ast.parse(source)):
        members = value if isinstance(value, (list, tuple)) and value and all(type(v) is int for v in value) else [value]
        limit = 2 if "batch" in name.lower() else most
        if type(members[0]) is int and max(members) > limit:
            found.append(f"{name}={limit}")
    return found


def host_run(build, path, out, seed, words):
    tool = subprocess.run([os.path.join(build, "tool/host_run"), path, out, str(seed)] + words, capture_output=True, text=True)
    if not tool.stdout.startswith("{"):
        return {"status": "crash", "text": f"exit {tool.returncode} {tool.stderr[-200:]}"}
    return json.loads(tool.stdout)


def run_ours(args, path, source, out, most=None):
    """At the smallest legal size; the model's own constants cut to `most` where that is given."""
    cut = cuts(source, most) if most else []
    result = host_run(args.build, path, out, args.seed, [f"shrink={args.size}", f"memory={MEMORY}"] + cut)
    result["cut"] = cut
    return result


def fitting(attempt):
    """attempt(None) at the model's own size, or attempt(most) with it cut until it fits into memory."""
    for most in (None,) + CUTS:
        try:
            result = attempt(most)
        except (MemoryError, RuntimeError) as e:
            if "allocate" not in str(e) and not isinstance(e, MemoryError):
                raise
            result = {"status": "out_of_memory", "text": str(e)}
        if result["status"] != "out_of_memory":
            return result
    return result


def oracle_limit(source):
    """ORACLE, unless methods draw normal numbers while they run: those differ by up to ULP."""
    for n in ast.walk(ast.parse(source)):
        if isinstance(n, ast.FunctionDef) and n.name not in ("__init__", "get_inputs", "get_init_inputs"):
            if any(isinstance(c, ast.Attribute) and c.attr in ("randn", "randn_like", "normal_") for c in ast.walk(n)):
                return ULP * 2.0 ** -23
    return ORACLE


def compare_oracle(args, path, source, result, drawn, exact, out):
    """Our fp64 run against PyTorch's on the same values: the error, or what is wrong."""
    import torch
    from _host_task import run_exact
    from safetensors.torch import load_file

    words = ["oracle"] + [f"{k}={v}" for k, v in result["overrides"].items()]
    tool = host_run(args.build, path, out, args.seed, words)
    if tool["status"] != "ok":
        return 0.0, [f"the fp64 run failed: {tool['status']} {tool['text']}"]
    ours = load_file(out)
    if any(not torch.equal(ours[k], t.double() if t.is_floating_point() else t) for k, t in drawn.items()):
        exact = run_exact(source, result["overrides"], args.seed, {k: ours[k] for k in drawn})
    errors = {k: error_of(ours[k], t, exact[1][k]) for k, t in exact[0].items() if k in ours}
    worst = max(errors.values(), default=0.0)
    limit = oracle_limit(source)
    return worst, [f"the fp64 run of {k} differs by {v:.1e}" for k, v in errors.items() if v > limit][:2]


def problem(args, path, folder, most):
    from _host_task import run_exact, run_torch
    from safetensors.torch import load_file

    out = os.path.join(folder, "out.safetensors")
    with open(path) as f:
        source = f.read()
    result = run_ours(args, path, source, out, most)
    if result["status"] != "ok":
        return result
    drawn, want = run_torch(source, result["overrides"], args.seed)
    got = load_file(out)
    draws, bad = compare_drawn(drawn, got, "tensor")
    exact = run_exact(source, result["overrides"], args.seed, drawn)
    ours, theirs, wrong = compare_outputs(want, got, *exact)
    del got
    oracle, differs = compare_oracle(args, path, source, result, drawn, exact, out)
    bad += wrong + differs
    result.update(ulp=draws, error=ours, torch_error=theirs, oracle=oracle, text="; ".join(bad[:3]), status="differs" if bad else "ok")
    return result


def number(path):
    return int(re.match(r"(\d+)", os.path.basename(path)).group(1))


def sizes(r):
    return " ".join(f"{k}={v}" for k, v in r.get("overrides", {}).items())


def row(level, path, r):
    name = os.path.basename(path)[:-3]
    figures = f"{r['error']:.1e} | {r['torch_error']:.1e} | {r['oracle']:.1e} | {r['ulp']}" if "error" in r else " | | | "
    return f"| {level} | {name} | {r['status']} | {figures} | {sizes(r)} | {' '.join(r.get('cut', []))} | {r.get('text', '')} |"


HEAD = "| level | problem | status | error | PyTorch's | fp64 runs | draws, ulp | sizes | model cut | |\n|---|---|---|---|---|---|---|---|---|---|"


def level_run(args, level, table):
    files = sorted(glob.glob(os.path.join(args.kernelbench, f"level{level}", "*.py")), key=number)
    files = [f for f in files if not args.only or number(f) in args.only]
    counts, errors, cut = {}, [], []
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            try:
                r = fitting(lambda most: problem(args, path, folder, most))
            except Exception as e:
                r = {"status": "torch", "text": f"{type(e).__name__}: {e}"}
            counts[r["status"]] = counts.get(r["status"], 0) + 1
            if "error" in r:
                errors.append((r["error"], r["oracle"]))
            if r.get("cut"):
                cut.append(str(number(path)))
            if table:
                print(row(level, path, r), file=table, flush=True)
            if args.verbose or r["status"] != "ok":
                print(row(level, path, r), flush=True)
    largest = [max(e[i] for e in errors) for i in (0, 1)] if errors else [0, 0]
    print(f"level{level}: {len(files)} problems, {counts.get('ok', 0)} agree"
          + "".join(f", {n} {s}" for s, n in sorted(counts.items()) if s != "ok")
          + f"; largest error {largest[0]:.1e}, between fp64 runs {largest[1]:.1e}; constants of the model cut in: {', '.join(cut) or 'none'}")
    return len(files) - counts.get("ok", 0)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.path.join(TREE, "build/release"))
    p.add_argument("--kernelbench", default=os.environ.get("KERNELBENCH"))
    p.add_argument("--levels", default="1,2,3")
    p.add_argument("--only", type=lambda s: [int(x) for x in s.split(",")])
    p.add_argument("--size", type=int, default=4, help="first rung of sizes to try")
    p.add_argument("--seed", type=int, default=42)
    p.add_argument("--table", help="a file that gets a row per problem")
    p.add_argument("-v", "--verbose", action="store_true")
    args, _ = p.parse_known_args()
    import torch

    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))      # a problem too large fails alone
    failed = language(args.build)
    if args.kernelbench and os.path.isdir(args.kernelbench):
        table = open(args.table, "a") if args.table else None
        if table and not table.tell():
            print(HEAD, file=table)
        failed += sum(level_run(args, level, table) for level in args.levels.split(","))
    else:
        print("KernelBench: skipped, set KERNELBENCH to its folder of level1, level2, level3")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
