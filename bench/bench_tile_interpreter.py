#!/usr/bin/env python3
"""The tile machine against Triton's own interpreter, one thread, CPU time, same kernels and sizes
(bench/tile_kernels.py). Needs Triton and PyTorch.

    bench_tile_interpreter.py"""
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
import triton

ROOT = Path(__file__).resolve().parents[1]
TOOL = Path(os.environ.get("BUILD_DIR", ROOT / "build/release")) / "tool/tile_kernel"
FILE = ROOT / "bench/tile_kernels.py"
torch.set_num_threads(1)

spec = importlib.util.spec_from_file_location("tile_kernels", FILE)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


def value(text):
    m = re.match(r"(fp32|fp16|i32):(\d+)", text)
    if m:
        dt = {"fp32": torch.float32, "fp16": torch.float16, "i32": torch.int32}[m.group(1)]
        return torch.randn(int(m.group(2))).to(dt)
    return float(text) if "." in text or "e" in text else int(text)


ours = {}
for line in subprocess.run([TOOL, "--time", FILE], capture_output=True, text=True, check=True).stdout.splitlines():
    name, _, compile, _, fast, _, checked = line.split()
    ours[name] = (float(compile), float(fast), float(checked))

ratios = {"fast": [], "checked": []}
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
    compile, fast, checked = ours[m.group(1)]
    ratios["fast"].append(best * 1e6 / fast)
    ratios["checked"].append(best * 1e6 / checked)
    print(f"{m.group(1):16} interpreter {best * 1e3:9.1f} ms   fast {fast / 1e3:8.3f} ms ({best * 1e6 / fast:7.0f}x)   "
          f"checked {checked / 1e3:8.3f} ms ({best * 1e6 / checked:7.0f}x)   compile {compile:6.1f} us")
print("median: fast %.0fx, checked %.0fx" % tuple(statistics.median(ratios[k]) for k in ("fast", "checked")))
