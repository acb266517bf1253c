#!/usr/bin/env python3
"""All speeds of the tile engine in one run: against C loops and OpenBLAS (bench_tile), parse and
compile (bench_tile_front), and against Triton's own interpreter on the same kernels and sizes
(bench/tile_kernels.py), one thread, CPU time but for the scaling over cores. Needs Triton and
PyTorch. Ends with a table of what is aimed at and what was measured.

    bench_tile_interpreter.py [SECONDS PER MEASUREMENT]"""
import importlib.util
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import torch

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("BUILD_DIR", ROOT / "build/release"))
FILE = ROOT / "bench/tile_kernels.py"
# The kinds of kernel that the medians are over.
NAMED = ["pointwise", "softmax", "layer_norm", "matmul", "attention"]
torch.set_num_threads(1)


def output(*command):
    text = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True).stdout
    print(text, end="", flush=True)
    return text


def value(text):
    m = re.match(r"(fp32|fp16|i32):(\d+)", text)
    if m:
        dt = {"fp32": torch.float32, "fp16": torch.float16, "i32": torch.int32}[m.group(1)]
        return torch.randn(int(m.group(2))).to(dt)
    return float(text) if "." in text or "e" in text else int(text)


def interpreter():
    """Times of the interpreter over ours: [(kernel, fast, checked)]."""
    spec = importlib.util.spec_from_file_location("tile_kernels", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ours, rows = {}, []
    for line in subprocess.run([BUILD / "tool/tile_kernel", "--time", FILE], capture_output=True, text=True, check=True).stdout.splitlines():
        name, _, compiled, _, fast, _, checked = line.split()
        ours[name] = (float(compiled), float(fast), float(checked))
    for line in FILE.read_text().splitlines():
        m = re.match(r"# launch: (\w+) grid=([\d,]+) (.*)", line)
        if not m:
            continue
        kwargs = {k: value(v) for k, v in (x.split("=") for x in m.group(3).split())}
        fn = getattr(module, m.group(1))
        best = 1e9
        for _ in range(2):
            t = time.thread_time()
            fn[tuple(int(x) for x in m.group(2).split(","))](**kwargs)
            best = min(best, time.thread_time() - t)
        compiled, fast, checked = ours[m.group(1)]
        rows.append((m.group(1), best * 1e6 / fast, best * 1e6 / checked))
        print(f"{m.group(1):16} interpreter {best * 1e3:9.1f} ms   fast {fast / 1e3:8.3f} ms ({best * 1e6 / fast:7.0f}x)   "
              f"checked {checked / 1e3:8.3f} ms ({best * 1e6 / checked:7.0f}x)   compile {compiled:6.1f} us", flush=True)
    return rows


def main():
    print("against loops in C and OpenBLAS")
    c = output(BUILD / "bench/bench_tile", *sys.argv[1:2])
    print("\nparse and compile")
    front = output(BUILD / "bench/bench_tile_front")
    print("\nagainst Triton's interpreter")
    rows = [r for r in interpreter() if r[0] in NAMED]
    ratios = [(float(x), name.strip()) for name, x in re.findall(r"^(.*?)  +fast .* ratio ([\d.]+)$", c, re.M)]
    blas = [float(x) for x in re.findall(r"^matmul 512 tiles (?:64|128)\S+ ieee .*fast/OpenBLAS ([\d.]+)", c, re.M)]
    gelu = float(re.search(r"bias \+ gelu.* fast +([\d.]+) GB/s  checked", c).group(1))
    together = max(float(x) for x in re.findall(r"together +([\d.]+) us", front))
    cores = re.search(r"(\d+) threads: .* ([\d]+) % of ideal", c)
    table = [
        ("interpreter / fast, median", statistics.median(r[1] for r in rows), ">=", 200, "x"),
        ("interpreter / checked, median", statistics.median(r[2] for r in rows), ">=", 100, "x"),
        (f"slowest against C ({max(ratios)[1]})", max(ratios)[0], "<=", 3, "x"),
        ("tl.dot fp32 against OpenBLAS", 100 * min(blas), ">=", 60, "%"),
        ("bias + GELU + add, one core", gelu, ">=", 2, "GB/s"),
        ("parse and compile, slowest kernel", together, "<=", 200, "us"),
        (f"scaling over {cores.group(1)} cores (wall time)", float(cores.group(2)), ">=", 80, "% of ideal"),
    ]
    print(f"\n{'':46}{'measured':>10}   aimed at")
    missed = 0
    for name, got, sign, want, unit in table:
        met = got >= want if sign == ">=" else got <= want
        missed += not met
        print(f"{name:46}{got:10.1f}   {sign} {want} {unit}{'' if met else '   MISSED'}")
    return missed != 0


if __name__ == "__main__":
    sys.exit(main())
