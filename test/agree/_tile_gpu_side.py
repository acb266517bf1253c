#!/usr/bin/env python3
"""Runs packed cases with real Triton on the GPU (or, with TRITON_INTERPRET=1, in its interpreter
on the CPU). Self-contained: a pack holds a copy of this file as gpu_side.py.

    gpu_side.py PACK [--out FOLDER] [--jobs N] [--limit SECONDS] [--only REGEX]

PACK/cases.json lists the cases, PACK/kernels/*.py the kernels. Inputs are made here from each
case's recipe and checked against the checksum of the ones that were run before. FOLDER gets
results-*.npz (of every tensor the part that the kernel changed) and status.json."""
import argparse
import importlib.util
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
import zlib
from pathlib import Path

import numpy as np

MOST_FILE = 15 << 20


# --- inputs: the same bits on both machines -----------------------------------------------------------

def torch_dtype(name):
    import torch
    return {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16, "fp64": torch.float64, "i1": torch.bool, "i8": torch.int8,
            "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u16": torch.uint16, "u32": torch.uint32,
            "u64": torch.uint64, "fp8e4nv": torch.float8_e4m3fn, "fp8e5": torch.float8_e5m2}[name]


def draw(rng, fill, count, is_float, bits):
    """Doubles or 64-bit integers by the recipe."""
    if fill in ("zeros", "undef"):
        return np.zeros(count)
    if fill == "ones":
        return np.ones(count)
    if fill == "index":
        return rng.permutation(count)
    if not is_float:
        if fill == "wide":
            return rng.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1, count, dtype=np.int64) if bits > 1 else rng.integers(0, 2, count)
        return rng.integers(0, 2 if bits == 1 else 8, count)
    if fill == "pos":
        return rng.uniform(0.05, 2.0, count)
    if fill == "wide":
        v = rng.uniform(-1, 1, count) * np.exp2(rng.integers(-20, 16, count).astype(np.float64))
        v[:12] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.5, 3.5, -2.5, 65504.0][:min(12, count)]
        return v
    if fill == "range":
        return rng.uniform(-6, 6, count)
    return rng.uniform(-1, 1, count)


def make_tensor(arg, seed):
    import torch
    dt = torch_dtype(arg["dtype"])
    rng = np.random.Generator(np.random.PCG64(seed))
    bits = 1 if dt == torch.bool else 8 * dt.itemsize
    v = draw(rng, arg.get("fill", "unit"), arg["count"], dt.is_floating_point, bits)
    if dt.is_floating_point:
        return torch.from_numpy(np.asarray(v, dtype=np.float64)).to(torch.float32 if dt.itemsize == 1 else dt).to(dt)
    signed = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64, torch.uint8: torch.int8}.get(dt)
    t = torch.from_numpy(np.asarray(v).astype(np.int64))
    return (t != 0) if dt == torch.bool else t.to(signed).view(dt) if signed else t.to(dt)


def tensors_of(case):
    return {a["name"]: make_tensor(a, case["seed"] + i) for i, a in enumerate(case["args"]) if a["kind"] == "tensor"}


def raw(t):
    import torch
    return t.detach().cpu().contiguous().view(torch.uint8).numpy().reshape(-1)


def checksum(tensors):
    crc = 0
    for t in tensors.values():
        crc = zlib.crc32(raw(t).tobytes(), crc)
    return crc


def changed(before, after):
    """The first byte that differs and the bytes from there to the last one."""
    where = np.nonzero(before != after)[0]
    if not len(where):
        return 0, after[:0]
    lo, hi = int(where[0]) & ~7, (int(where[-1]) | 7) + 1
    return lo, after[lo:hi]


# --- one case -------------------------------------------------------------------------------------------

_modules = {}


def load(path):
    if path not in _modules:
        name = f"packed_{len(_modules)}"
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        _modules[path] = module
    return _modules[path]


def value_of(arg, module, tl):
    kind, v = arg["kind"], arg.get("value")
    return getattr(tl, v) if kind == "dtype" else getattr(module, v) if kind == "fn" else float(v) if kind == "float" else \
        tuple(v) if kind == "tuple" else v


def run_case(pack, case, device, fusion):
    """Bytes of every tensor before and after."""
    import torch
    import triton.language as tl
    module = load(str(pack / "kernels" / case["file"]))
    fn = getattr(module, case["kernel"])
    inputs = tensors_of(case)
    if checksum(inputs) != case["crc"]:
        raise ValueError("inputs differ from the packed ones")
    before = {k: raw(t).copy() for k, t in inputs.items()}
    there = {k: t.to(device) for k, t in inputs.items()}
    kwargs = {a["name"]: there[a["name"]] if a["kind"] == "tensor" else value_of(a, module, tl) for a in case["args"]}
    options = dict(case.get("options", {}))
    if device == "cuda" and not fusion:
        options["enable_fp_fusion"] = False
    fn[tuple(case["grid"])](**kwargs, **options)
    if device == "cuda":
        torch.cuda.synchronize()
    return {k: changed(before[k], raw(there[k])) for k in inputs}


def worker(pack, tmp, device):
    """Reads ids, answers a line each; a broken CUDA context ends the process."""
    import torch
    import triton
    talk = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    cases = json.loads((pack / "cases.json").read_text())["cases"]
    if device == "cuda":
        torch.zeros(1, device="cuda")
        triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    print("ready", file=talk, flush=True)
    for line in sys.stdin:
        i = int(line)
        case = cases[i]
        out, why = {}, "ok"
        try:
            for mode in ("fused", "plain") if case["both"] and device == "cuda" else ("fused",):
                for name, (lo, data) in run_case(pack, case, device, mode == "fused").items():
                    if len(data):
                        out[f"{i}|{mode}|{name}|{lo}"] = data
            np.savez_compressed(tmp / f"{i}.npz", **out)
        except BaseException as e:
            why = f"{type(e).__name__}: {str(e)[:300]}"
        print(json.dumps([i, why]), file=talk, flush=True)
        if device == "cuda":
            try:
                torch.cuda.synchronize()
            except Exception:
                return 3
    return 0


# --- many processes -----------------------------------------------------------------------------------------

class Runner:
    def __init__(self, pack, tmp, device, ids, limit):
        self.pack, self.tmp, self.device, self.limit = pack, tmp, device, limit
        self.todo, self.status, self.end = queue.Queue(), {}, time.time() + limit
        for i in ids:
            self.todo.put(i)

    def start(self):
        return subprocess.Popen([sys.executable, __file__, str(self.pack), "--worker", str(self.tmp), "--device", self.device],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def answer(self, p, seconds):
        """A line, or None when the process ended or took too long (it is then killed)."""
        timer = threading.Timer(max(1, min(seconds, self.end - time.time())), p.kill)
        timer.start()
        line = p.stdout.readline()
        timer.cancel()
        return line.strip() or None

    def serve(self):
        p = None
        while time.time() < self.end:
            try:
                i = self.todo.get_nowait()
            except queue.Empty:
                break
            if p is None:
                p = self.start()
                if self.answer(p, 90) != "ready":
                    self.status[i] = "no worker"
                    p.kill()
                    p = None
                    continue
            try:
                p.stdin.write(f"{i}\n")
                p.stdin.flush()
                line = self.answer(p, 60)
            except OSError:
                line = None
            self.status[i] = json.loads(line)[1] if line else "crashed or took over a minute"
            if line is None or p.poll() is not None:
                p.kill()
                p = None
        if p is not None:
            p.stdin.close()
            p.wait()


def merge(tmp, out):
    """All per-case archives into few files of bounded size."""
    k, size, z = 0, 0, None
    for f in sorted(tmp.glob("*.npz"), key=lambda f: int(f.stem)):
        with zipfile.ZipFile(f) as src:
            for info in src.infolist():
                if z is None or size + info.compress_size > MOST_FILE:
                    z = z and z.close()
                    z, size, k = zipfile.ZipFile(out / f"results-{k}.npz", "w", zipfile.ZIP_DEFLATED), 0, k + 1
                z.writestr(info.filename, src.read(info))
                size += info.compress_size + 200
    if z:
        z.close()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("pack", type=Path)
    p.add_argument("--out", type=Path, default=Path("gpu_out"))
    p.add_argument("--jobs", type=int, default=max(2, (os.cpu_count() or 2) - 2))
    p.add_argument("--limit", type=float, default=240)
    p.add_argument("--only", default="")
    p.add_argument("--worker", type=Path)
    p.add_argument("--device", default="cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda")
    args = p.parse_args()
    if args.worker:
        return worker(args.pack.resolve(), args.worker, args.device)
    began = time.time()
    cases = json.loads((args.pack / "cases.json").read_text())["cases"]
    ids = [i for i, c in enumerate(cases) if re.search(args.only, f"{c['origin']} {c['file']} {c['kernel']} {c['class']}")]
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as tmp:
        runner = Runner(args.pack.resolve(), Path(tmp), args.device, ids, args.limit)
        threads = [threading.Thread(target=runner.serve) for _ in range(args.jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        merge(Path(tmp), args.out)
    info = {"seconds": round(time.time() - began, 1), "device": args.device, "status": runner.status}
    if args.device == "cuda":
        import torch
        import triton
        info |= {"gpu": torch.cuda.get_device_name(0), "torch": torch.__version__, "triton": triton.__version__}
    (args.out / "status.json").write_text(json.dumps(info))
    ok = sum(s == "ok" for s in runner.status.values())
    print(f"{len(ids)} cases, {ok} ran, {len(runner.status) - ok} failed, {len(ids) - len(runner.status)} not reached, {info['seconds']} s")
    for i, s in list(runner.status.items()):
        if s != "ok":
            print(cases[i]["file"], cases[i]["kernel"], s[:160])
    return 0


if __name__ == "__main__":
    sys.exit(main())
