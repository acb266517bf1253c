#!/usr/bin/env python3
"""Numbers of the tile machine against Triton on a GPU that may be another machine, in three steps:

    agree_tile_gpu.py pack PACK [--corpus FOLDER]... [--most N]     run every case here
    PACK/gpu_side.py PACK --out RESULTS                             run every case there
    agree_tile_gpu.py compare PACK RESULTS [--show N]               compare
    agree_tile_gpu.py refresh PACK                                  run every case here again
    agree_tile_gpu.py keep PACK RESULTS                             into h200.zip, what a test can hold

Without arguments: against the kept results of an H200, then against Triton's interpreter, both
on this machine.

Cases: the kernels under test/tile/kernels (`# signature:` and `# launch:` lines) in fp32, fp16
and bf16, the kernels of _tile_programs, and with --corpus kernels of other people's source under
guessed signatures. Only cases that run clean in checked mode are packed.

Classes, by the operations of the kernel's tile code:
    exact     integers, casts, one rounding an operation: the same bits where Triton is told not to
              fuse multiply and add (NaN is NaN)
    special   division and functions that the GPU approximates: ulps of the output's dtype
    reduce    sums, products and scans of floats: relative to the sum of the terms' magnitudes
    dot       the same, by the precision of the operands
    atomic    atomics: integers exact, floats as reduce"""
import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import _tile_corpus as corpus
import _tile_gpu_side as side
import _tile_programs as programs
import _tile_golden as golden
from _tile_compare import explained, judge, kind

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("BUILD_DIR", ROOT / "build/release")) / "tool/tile_eval"
COUNT = 16384
FUEL = 1 << 17
TYPE = re.compile(r"^(i1|u1|[iu](8|16|32|64)|fp16|bf16|fp32|fp64|fp8\w+)$")


# --- cases --------------------------------------------------------------------------------------------

def argument(name, text):
    """What a signature or launch line gives a parameter."""
    m = re.match(r"^\*?k?(fp\w+|bf16|[iu]\d+)(?::(\d+))?(?::(\w+))?$", text)
    if m and (text.startswith("*") or m.group(2)):
        dt = "i1" if m.group(1) == "u1" else m.group(1)
        return {"name": name, "kind": "tensor", "dtype": dt, "count": int(m.group(2) or COUNT), "fill": m.group(3) or "unit"}
    if TYPE.match(text):
        return {"name": name, "kind": "bool", "value": True} if text in ("i1", "u1") else \
            {"name": name, "kind": "float", "value": 0.75} if text[0] in "fb" else {"name": name, "kind": "int", "value": 50}
    if text.startswith("tl."):
        return {"name": name, "kind": "dtype", "value": text[3:]}
    try:
        v = eval(text, {"inf": float("inf"), "nan": float("nan")})
    except NameError:
        return {"name": name, "kind": "fn", "value": text}
    kind = "none" if v is None else type(v).__name__
    return {"name": name, "kind": kind, "value": repr(v) if kind == "float" else v}


def parameters(path, kernel, cache={}):
    """Names in order, with the text of their defaults."""
    if path not in cache:
        tree = ast.parse(Path(path).read_text())
        cache[path] = {n.name: n.args for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    a = cache[path][kernel]
    defaults = [None] * (len(a.args) - len(a.defaults)) + [ast.unparse(d) for d in a.defaults]
    return [(p.arg, d) for p, d in zip(a.args, defaults)]


def case(path, kernel, grid, items, origin):
    """None where an argument is missing or of a type that only Triton has."""
    given = {k.strip(): v.strip() for k, v in items}
    args = []
    for name, default in parameters(str(path), kernel):
        text = given.get(name, default)
        if text is None or "fp8e4b" in text:
            return None
        args.append(argument(name, text))
    return {"path": str(path), "kernel": kernel, "grid": grid, "origin": origin, "args": args}


def halves(items):
    """The arguments in the narrower floats, where all tensors of floats are fp32."""
    yield items
    if any(re.match(r"\*?fp32(:|$)", v) and (v[0] == "*" or ":" in v) for _, v in items):
        for dt in ("fp16", "bf16"):
            yield [(k, re.sub(r"^(\*?)fp32(?=:|$)", r"\1" + dt, v) if v[0] == "*" or ":" in v else v) for k, v in items]


def from_launches(path, origin, variants):
    for line in path.read_text().splitlines():
        m = re.match(r"# launch: (\w+) grid=([\d,]+) ?(.*)", line)
        if m:
            grid = [int(x) for x in m.group(2).split(",")]
            items = [tuple(x.split("=", 1)) for x in m.group(3).split()]
            for some in halves(items) if variants else [items]:
                yield case(path, m.group(1), (grid + [1, 1])[:3], some, origin)


def split_items(text):
    out, depth, last = [], 0, 0
    for i, ch in enumerate(text + ","):
        depth += (ch in "([") - (ch in ")]")
        if ch == "," and not depth:
            out.append(text[last:i].strip())
            last = i + 1
    return [tuple(x.split("=", 1)) for x in out if x]


def from_signatures(cases, origin, variants):
    for c in cases:
        items = split_items(c.signature)
        for some in halves(items) if variants else [items]:
            yield case(c.path, c.kernel, [1, 1, 1], some, origin or c.origin)


def runs(ours, c):
    """Whether a guessed signature gives a launch that runs clean."""
    made = next(from_signatures([c], "", False))
    if made is None:
        return {"accept": False}
    made["seed"] = 0
    return {"accept": ours.ask(made, side.tensors_of(made), True)[0].startswith("ok")}


def all_cases(args, scratch, ours):
    """Every case to try, each once."""
    out = []
    kernels = ROOT / "test/tile/kernels"
    for f in sorted(kernels.glob("*.py")):
        if not f.name.startswith("bugs_"):
            out += from_launches(f, f.stem, True)
    out += from_signatures(corpus.committed(kernels), "", True)
    for name, text in programs.files((ROOT / "src/tile/machine/math.def").read_text()).items():
        (scratch / f"made_{name}.py").write_text(text)
        out += from_launches(scratch / f"made_{name}.py", f"made {name}", False)
    for f in args.corpus:
        some = corpus.harvest(Path(f), scratch, lambda c: runs(ours, c), args.most, random.Random(1))
        out += from_signatures(some, Path(f).name, False)
    seen = {}
    for c in filter(None, out):
        seen.setdefault(json.dumps([c["path"], c["kernel"], c["grid"], c["args"]]), c)
    return list(seen.values())


# --- step A: here ------------------------------------------------------------------------------------------

class Ours:
    def __init__(self, tmp):
        self.tmp = tmp
        self.p = None

    def ask(self, c, tensors, checked):
        """The answer line and the tensors' bytes after the run."""
        if self.p is None or self.p.poll() is not None:
            self.p = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        args = []
        for a in c["args"]:
            if a["kind"] == "tensor":
                f = self.tmp / a["name"]
                f.write_bytes(side.raw(tensors[a["name"]]).tobytes())
                args.append({"name": a["name"], "tensor": str(f), "dtype": a["dtype"], "count": a["count"], "offset": 0})
            elif a["kind"] == "none":
                args.append({"name": a["name"], "none": True})
            else:
                args.append({"name": a["name"], a["kind"]: float(a["value"]) if a["kind"] == "float" else a["value"]})
        text = json.dumps({"path": c["path"], "kernel": c["kernel"], "grid": c["grid"], "args": args, "ops": True, "checked": checked, "fuel": FUEL})
        self.p.stdin.write(text.replace("Infinity", "1e999") + "\n")
        self.p.stdin.flush()
        answer = self.p.stdout.readline().strip() or "crashed"
        return answer, {a["name"]: np.frombuffer((self.tmp / a["name"]).read_bytes(), dtype=np.uint8) for a in args if "tensor" in a}


SPECIAL = set("sqrt rsqrt rcp exp exp2 exp10 expm1 log log2 log10 log1p logb sin cos tan sinpi cospi asin acos atan sinh cosh tanh asinh acosh atanh erf "
              "erfc erfcx erfinv erfcinv normcdf normcdfinv lgamma tgamma cbrt rcbrt j0 j1 y0 y1 cyl_bessel_i0 cyl_bessel_i1 rcp64h pow atan2 hypot rhypot "
              "remainder norm3d rnorm3d norm4d rnorm4d powi jn yn div rem".split())
SMALL = {"fp8e4nv", "fp8e5"}
ORDERED = {1, 2, 0}          # custom, sum, product: rounding depends on the order
PRECISION = ["ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"]


def classify(answer):
    ops = [o.strip().split(":") for o in answer[2:].split(";") if o.strip()]
    is_float = lambda d: d[0] in "fb"
    names = {o[0] for o in ops}
    if names & {"atomic", "cas"}:
        return "atomic"
    dots = [o for o in ops if o[0] in ("dot", "dot_scaled")]
    if dots:
        return "dot"
    if any(o[0] in ("reduce", "scan") and is_float(o[1]) and int(o[2]) in ORDERED for o in ops):
        return "reduce"
    if any(o[0] in SPECIAL and is_float(o[1]) for o in ops):
        return "special"
    return "exact"


def pack(args):
    out = args.pack
    shutil.rmtree(out, ignore_errors=True)
    (out / "kernels").mkdir(parents=True)
    refused, packed, store, modes = Counter(), [], {}, 0
    kept = golden.Golden() if golden.FILE.exists() else None
    with tempfile.TemporaryDirectory() as tmp, tempfile.TemporaryDirectory() as scratch:
        ours = Ours(Path(tmp))
        for c in all_cases(args, Path(scratch), ours):
            if c["kernel"] in corpus.NO_ONE_VALUE:
                continue
            if any(a["kind"] == "tensor" and a["count"] == 0 for a in c["args"]):
                continue
            i = len(packed)
            c["file"] = Path(c["path"]).name
            c["seed"] = kept.seed(c, Path(c["path"])) if kept else None
            if c["seed"] is None:
                c["seed"] = i * 64
            answer, other = run_here(ours, c, i, store)
            if not answer.startswith("ok"):
                refused[c["origin"]] += 1
                if args.show:
                    print(c["origin"], c["kernel"], [a for a in c["args"]][:3], answer[:150])
                continue
            modes += other
            c["crc"] = side.checksum(side.tensors_of(c))
            c["both"] = c["class"] == "exact" and re.search(r"\bmul:[fb]", answer) is not None and re.search(r"\b(add|sub):[fb]", answer) is not None
            if not (out / "kernels" / c["file"]).exists():
                shutil.copy(c.pop("path"), out / "kernels" / c["file"])
            c.pop("path", None)
            packed.append(c)
    np.savez_compressed(out / "ours.npz", **store)
    (out / "cases.json").write_text(json.dumps({"cases": packed}))
    shutil.copy(side.__file__, out / "gpu_side.py")
    count = Counter(c["class"] for c in packed)
    print(f"{len(packed)} cases packed ({', '.join(f'{k} {n}' for k, n in count.most_common())}), {sum(refused.values())} refused or faulting, "
          f"{modes} with other bits in fast mode")
    print("of " + ", ".join(f"{k} {n}" for k, n in Counter(c["origin"] for c in packed).most_common()))
    print("refused " + ", ".join(f"{k} {n}" for k, n in refused.most_common()))
    return modes != 0


def run_here(ours, c, i, store):
    """Runs a case in both modes and keeps its results; the answer, and whether the modes differ."""
    tensors = side.tensors_of(c)
    answer, after = ours.ask(c, tensors, True)
    if not answer.startswith("ok"):
        return answer, False
    _, fast = ours.ask(c, tensors, False)
    c["class"] = classify(answer)
    c["ops"] = answer[2:].strip()
    keep(store, f"{i}|ours", tensors, after)
    if c["class"] in ("reduce", "dot", "atomic"):
        sums = {k: t.abs() if t.dtype.is_floating_point and t.dtype.itemsize > 1 else t for k, t in tensors.items()}
        again, scale = ours.ask(c, sums, False)
        if again.startswith("ok"):
            keep(store, f"{i}|scale", sums, scale)
    return answer, any((fast[k] != after[k]).any() for k in after)


def refresh(args):
    """The packed cases once more: what was changed here since counts, the inputs stay."""
    path, store, faults, modes = args.pack / "cases.json", {}, 0, 0
    cases = json.loads(path.read_text())["cases"]
    with tempfile.TemporaryDirectory() as tmp:
        ours = Ours(Path(tmp))
        for i, c in enumerate(cases):
            c["path"] = str(args.pack.resolve() / "kernels" / c["file"])
            answer, other = run_here(ours, c, i, store)
            c.pop("path")
            c.pop("fault", None)
            if not answer.startswith("ok"):
                c["fault"] = answer
                faults += 1
            modes += other
    np.savez_compressed(args.pack / "ours.npz", **store)
    path.write_text(json.dumps({"cases": cases}))
    print(f"{len(cases)} cases, {faults} refused or faulting now, {modes} with other bits in fast mode")
    return modes != 0


def keep(store, key, before, after):
    for name, data in after.items():
        lo, part = side.changed(side.raw(before[name]), data)
        if len(part):
            store[f"{key}|{name}|{lo}"] = part


# --- step C: compare -------------------------------------------------------------------------------------------

def parts(path):
    """{(case, which): {tensor: (first byte, bytes)}}"""
    out = defaultdict(dict)
    with np.load(path) as z:
        for key in z.files:
            i, which, name, lo = key.split("|")
            out[int(i), which][name] = (int(lo), z[key])
    return out


def whole(before, part):
    after = before.copy()
    if part:
        lo, data = part
        after[lo:lo + len(data)] = data
    return after


def load_results(folder):
    status, theirs = json.loads((folder / "status.json").read_text()), defaultdict(dict)
    for f in sorted(folder.glob("results-*.npz")):
        for k, v in parts(f).items():
            theirs[k].update(v)
    return status, theirs


def keep_results(args):
    """What is made or committed here; other people's kernels are not kept."""
    cases = json.loads((args.pack / "cases.json").read_text())["cases"]
    status, theirs = load_results(args.results)
    for i, c in enumerate(cases):
        if not (c["origin"].startswith("made ") or (ROOT / "test/tile/kernels" / c["file"]).exists()):
            status["status"].pop(str(i), None)
    print(f"{golden.save(cases, args.pack, theirs, status)} cases kept, {golden.FILE.stat().st_size} bytes")
    return 0


def compare(args):
    cases = json.loads((args.pack / "cases.json").read_text())["cases"]
    ours = parts(args.pack / "ours.npz")
    status, theirs = load_results(args.results)
    table, shown = defaultdict(Counter), 0
    worst, reasons = defaultdict(float), Counter()
    kernels = defaultdict(set)
    on_gpu = status["device"] == "cuda"
    print(f"{status.get('gpu', 'interpreter')} {status.get('triton', '')}: {len(cases)} cases, {status['seconds']} s")
    for i, c in enumerate(cases):
        label = kind(c)
        row = table[label]
        row["cases"] += 1
        kernels[label].add((c["file"], c["kernel"]))
        s = status["status"].get(str(i), "not reached")
        if "fault" in c:
            row["no one value"] += 1
            continue
        if s != "ok":
            row["not run there"] += 1
            if args.failures:
                print(f"{i} {c['file']} {c['kernel']}: {s}")
            continue
        tensors = side.tensors_of(c)
        verdict, size = {}, 0.0
        for mode in ("plain", "fused") if c["both"] and on_gpu else ("fused",):
            bad = None
            for a in c["args"]:
                if a["kind"] != "tensor":
                    continue
                before = side.raw(tensors[a["name"]])
                triple = [whole(before, src.get(a["name"])) for src in (ours[i, "ours"], theirs[i, mode], ours.get((i, "scale"), {}))]
                if status.get("partial") and a["name"] in theirs[i, mode]:
                    lo, part = theirs[i, mode][a["name"]]
                    triple = [x[lo:lo + len(part)] for x in triple]
                r = judge(c, a, *triple, args.pack)
                size = max(size, r.size if mode != "fused" or not c["both"] else 0)
                bad = bad or (f"{a['name']}[{r.at}] {r.text}" if r.bad else None)
            verdict[mode] = bad
        first = verdict.get("plain", verdict.get("fused"))
        if "plain" in verdict and not verdict["plain"] and verdict["fused"]:
            row["agree; differ where fused"] += 1
        elif first and explained(c, args.pack, on_gpu):
            row["explained"] += 1
            reasons[explained(c, args.pack, on_gpu)] += 1
        elif first:
            row["differ"] += 1
            if shown < args.show:
                shown += 1
                print(f"{i} {c['class']} {c['file']} {c['kernel']} {brief(c)}: {first}")
        else:
            row["agree"] += 1
            worst[label] = max(worst[label], size)
    columns = ["cases", "agree", "agree; differ where fused", "explained", "differ", "not run there", "no one value"]
    print(f"{'class':18}{'kernels':>9}" + "".join(f"{x:>27}" if len(x) > 14 else f"{x:>15}" for x in columns) + f"{'largest error':>16}")
    for k in sorted(table):
        print(f"{k:18}{len(kernels[k]):9}" + "".join(f"{table[k][x]:27}" if len(x) > 14 else f"{table[k][x]:15}" for x in columns)
              + f"{worst[k]:12.3g} {'ulp' if k.split()[0] in ('exact', 'special') else 'relative'}")
    for k, n in reasons.most_common():
        print(f"explained {n}: {k}")
    total = Counter()
    for r in table.values():
        total.update(r)
    print(f"agree_tile_gpu: {total['cases']} cases, {total['agree'] + total['agree; differ where fused']} agree, {total['explained']} explained, "
          f"{total['differ']} differ, {total['not run there']} not run there, {total['no one value']} without one value")
    skipped = total["not run there"] + total["no one value"] + total["explained"]
    print(f"{total['cases'] - skipped - total['differ']} passed, {total['differ']} failed, {skipped} skipped")
    return total["differ"] != 0


def brief(c):
    return " ".join(f"{a['name']}={a['dtype'] + ':' + str(a['count']) if a['kind'] == 'tensor' else a.get('value')}" for a in c["args"])


def main():
    p = argparse.ArgumentParser()
    sub = p.add_subparsers(dest="step")
    a = sub.add_parser("pack")
    a.add_argument("pack", type=Path)
    a.add_argument("--corpus", action="append", default=[])
    a.add_argument("--most", type=int, default=0)
    a.add_argument("--show", action="store_true")
    c = sub.add_parser("compare")
    c.add_argument("pack", type=Path)
    c.add_argument("results", type=Path)
    c.add_argument("--show", type=int, default=40)
    c.add_argument("--failures", action="store_true")
    r = sub.add_parser("refresh")
    r.add_argument("pack", type=Path)
    k = sub.add_parser("keep")
    k.add_argument("pack", type=Path)
    k.add_argument("results", type=Path)
    args = p.parse_args()
    if args.step:
        return {"pack": pack, "compare": compare, "refresh": refresh, "keep": keep_results}[args.step](args)
    with tempfile.TemporaryDirectory() as tmp:
        tmp = Path(tmp)
        if pack(argparse.Namespace(pack=tmp / "pack", corpus=[], most=0, show=False)):
            return 1
        cases = json.loads((tmp / "pack/cases.json").read_text())["cases"]
        golden.Golden().write(cases, tmp / "pack", tmp / "kept")
        wrong = compare(argparse.Namespace(pack=tmp / "pack", results=tmp / "kept", show=10, failures=False))
        subprocess.run([sys.executable, tmp / "pack/gpu_side.py", tmp / "pack", "--out", tmp / "out", "--limit", "600"],
                       env=os.environ | {"TRITON_INTERPRET": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return compare(argparse.Namespace(pack=tmp / "pack", results=tmp / "out", show=10, failures=False)) or wrong


if __name__ == "__main__":
    sys.exit(main())
