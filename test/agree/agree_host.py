#!/usr/bin/env python3
"""The host engine against CPython and PyTorch.

1. test/host/*.py: what our interpreter prints equals what CPython prints (and the committed
   .out files).
2. KernelBench problems, where KERNELBENCH points at its folder of level1, level2, level3 (not
   part of this tree): each task at a shrunken size, same seed: inputs and weights equal PyTorch's
   (bit for bit where drawn by rand and uniform_, 4 ulp where by randn and normal_), outputs
   within fp32 rounding of PyTorch's, measured against an fp64 run; our fp64 run equals PyTorch's.

usage: agree_host.py [--build build/release] [--kernelbench DIR] [--levels 1,2,3] [--only N] [-v]
                     [--jobs-time] [--tolerance X]
Exit code 0: all agree. 77: nothing to compare (skipped)."""
import argparse
import ast
import contextlib
import glob
import io
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
# A problem agrees if its error against an fp64 run is at most FACTOR times PyTorch's own, or
# below FLOOR of the output's scale: a few fp32 roundings.
FACTOR, FLOOR = 4.0, 2e-6
MODEL_SIZE = 256
ORACLE = 1e-7        # buffers that a constructor computes are fp32 in PyTorch, fp64 in ours

ULP = 4


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


def override(source, values):
    """The module with NAME = constant replaced, as host_load does it."""
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id in values:
                other = values[node.targets[0].id]
                try:
                    sizes = eval(compile(ast.Expression(node.value), "constant", "eval"), {"__builtins__": {}})
                except Exception:
                    sizes = None
                if isinstance(sizes, (tuple, list)):
                    sizes = type(sizes)(other if n == max(sizes) else n for n in sizes)
                    node.value = ast.parse(repr(sizes), mode="eval").body
                else:
                    node.value = ast.copy_location(ast.Constant(other), node.value)
    return compile(ast.fix_missing_locations(tree), "task", "exec")


def flatten(value, path, out):
    import torch

    if isinstance(value, torch.Tensor):
        out[path] = value
    elif isinstance(value, (list, tuple)):
        for i, v in enumerate(value):
            flatten(v, f"{path}.{i}", out)
    elif isinstance(value, dict):
        for k, v in value.items():
            flatten(v, f"{path}.{k}", out)


def run_torch(source, values, seed):
    import torch

    space = {"__name__": "task"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(override(source, values), space)
        torch.manual_seed(seed)
        init = space["get_init_inputs"]()
        torch.manual_seed(seed)
        if len(init) == 2 and isinstance(init[0], list) and isinstance(init[1], dict):
            model = space["Model"](*init[0], **init[1])
        else:
            model = space["Model"](*init)
        model.eval()
        torch.manual_seed(seed)
        inputs = space["get_inputs"]()
        kept = {}
        flatten(inputs, "input", kept)
        kept = {k: v.clone() for k, v in kept.items()}
        state = {"state." + k: v.clone() for k, v in model.state_dict(keep_vars=False).items()}
        for k, v in model.named_buffers():
            state.setdefault("state." + k, v.clone())
        with torch.no_grad():
            started = time.process_time()
            output = model(*inputs)
            seconds = time.process_time() - started
        out = {}
        flatten(output, "output", out)
        exact = fp64_run(space, init, seed, kept)
    return kept, state, out, exact, seconds


def fp64_run(space, init, seed, inputs):
    """The same program on the same drawn values, computed in double."""
    import torch

    try:
        torch.manual_seed(seed)
        book = len(init) == 2 and isinstance(init[0], list) and isinstance(init[1], dict)
        model = space["Model"](*init[0], **init[1]) if book else space["Model"](*init)
        model = model.double().eval()
        torch.manual_seed(seed)
        args = space["get_inputs"]()
        args = [a.double() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args]
        with torch.no_grad():
            out = {}
            flatten(model(*args), "output", out)
        return out
    except Exception:
        return None


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


def error_of(a, exact):
    """Largest difference relative to the scale of the exact result."""
    import torch

    a, exact = a.double(), exact.double()
    same = (a == exact) | (a.isnan() & exact.isnan())
    if a.numel() == 0 or bool(same.all()):
        return 0.0
    finite = exact[exact.isfinite()]
    scale = float(finite.abs().max()) if finite.numel() else 1.0
    difference = torch.where(same, torch.zeros_like(a), (a - exact).abs())
    return float(difference.nan_to_num(nan=float("inf")).max()) / (scale or 1.0)


def compare_outputs(want, got, exact):
    worst, bad = 0.0, []
    for name, t in want.items():
        if name not in got:
            bad.append(f"{name} is missing")
            continue
        if got[name].shape != t.shape or got[name].dtype != t.dtype:
            bad.append(f"{name}: {tuple(got[name].shape)} {got[name].dtype}, not {tuple(t.shape)} {t.dtype}")
            continue
        truth = exact[name] if exact and name in exact else t
        ours, theirs = error_of(got[name], truth), error_of(t, truth)
        worst = max(worst, ours)
        if ours > max(FACTOR * theirs, FLOOR):
            bad.append(f"{name}: relative error {ours:.2e}, PyTorch's {theirs:.2e}")
    return worst, bad


def caps(source):
    """Sizes of the model itself that would take gigabytes, cut to one that keeps divisibility."""
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            try:
                value = eval(compile(ast.Expression(node.value), "constant", "eval"), {"__builtins__": {}})
            except Exception:
                continue
            members = value if isinstance(value, (list, tuple)) and all(type(v) is int for v in value) else [value]
            name = node.targets[0].id
            limit = 2 if "batch" in name.lower() else MODEL_SIZE
            if members and type(members[0]) is int and max(members) > limit:
                found.append(f"{name}={limit}")
    return found


def problem(build, path, seed, folder):
    from safetensors.torch import load_file

    out = os.path.join(folder, "out.safetensors")
    with open(path) as f:
        source = f.read()
    command = [os.path.join(build, "tool/host_run"), path, out, str(seed), "shrink"]
    tool = subprocess.run(command + caps(source), capture_output=True, text=True)
    if tool.stdout.startswith("{") and json.loads(tool.stdout)["status"] != "ok":
        tool = subprocess.run(command, capture_output=True, text=True)
    if not tool.stdout.startswith("{"):
        return {"status": "crash", "text": f"exit {tool.returncode} {tool.stderr[-200:]}"}
    result = json.loads(tool.stdout)
    if result["status"] != "ok":
        return result
    inputs, state, want, exact, seconds = run_torch(source, result["overrides"], seed)
    got = load_file(out)
    draws, bad = compare_drawn({**inputs, **state}, got, "tensor")
    error, wrong = compare_outputs(want, got, exact)
    result.update(ulp=draws, error=error, torch_ms=seconds * 1e3, text="; ".join((bad + wrong)[:3]))
    if exact:
        sizes = [f"{k}={v}" for k, v in result["overrides"].items()]
        tool = subprocess.run(command[:4] + ["oracle"] + sizes, capture_output=True, text=True)
        if tool.stdout.startswith("{") and json.loads(tool.stdout)["status"] == "ok":
            oracle = load_file(out)
            result["oracle"] = max([error_of(oracle[k], v) for k, v in exact.items() if k in oracle], default=0.0)
            if result["oracle"] > (ORACLE if draws == 0 else 1e-5):
                wrong.append(f"the fp64 run differs by {result['oracle']:.1e}")
                result["text"] += "; " + wrong[-1]
        else:
            wrong.append("the fp64 run failed")
            result["text"] += "; " + wrong[-1] + tool.stdout[:200]
    if bad or wrong:
        result["status"] = "differs"
    return result


def number(path):
    return int(re.match(r"(\d+)", os.path.basename(path)).group(1))


def kernelbench(args):
    failed = 0
    for level in args.levels.split(","):
        files = sorted(glob.glob(os.path.join(args.kernelbench, f"level{level}", "*.py")), key=number)
        files = [f for f in files if not args.only or number(f) in args.only]
        counts, errors, ratios = {}, [], []
        with tempfile.TemporaryDirectory() as folder:
            for path in files:
                try:
                    r = problem(args.build, path, args.seed, folder)
                except Exception as e:
                    r = {"status": "torch", "text": f"{type(e).__name__}: {e}"}
                counts[r["status"]] = counts.get(r["status"], 0) + 1
                if "error" in r:
                    errors.append(r["error"])
                    ratios.append(r["forward_ms"] / max(r["torch_ms"], 1e-3))
                if args.verbose or r["status"] != "ok":
                    print(f"level{level}/{os.path.basename(path)}: {r['status']} {r.get('text', '')}"
                          + (f" error {r['error']:.1e}, draws {r['ulp']} ulp, {r['forward_ms']:.2f} ms (torch {r['torch_ms']:.2f})" if "error" in r else ""))
        failed += len(files) - counts.get("ok", 0)
        ratios.sort()
        print(f"level{level}: {len(files)} problems, {counts.get('ok', 0)} agree, "
              + ", ".join(f"{n} {s}" for s, n in sorted(counts.items()) if s != "ok")
              + (f"; largest error {max(errors):.1e}; forward time / PyTorch's: median {ratios[len(ratios) // 2]:.2f}, largest {ratios[-1]:.1f}" if errors else ""))
    return failed


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.path.join(TREE, "build/release"))
    p.add_argument("--kernelbench", default=os.environ.get("KERNELBENCH"))
    p.add_argument("--levels", default="1,2,3")
    p.add_argument("--only", type=lambda s: [int(x) for x in s.split(",")])
    p.add_argument("--seed", type=int, default=42)
    p.add_argument("-v", "--verbose", action="store_true")
    args, _ = p.parse_known_args()
    import torch

    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))      # a problem too large fails alone
    failed = language(args.build)
    if args.kernelbench and os.path.isdir(args.kernelbench):
        failed += kernelbench(args)
    else:
        print("KernelBench: skipped, set KERNELBENCH to its folder of level1, level2, level3")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
