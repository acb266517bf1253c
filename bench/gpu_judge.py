#!/usr/bin/env python3
"""Every figure of the GPU judge in one call, on a machine with a GPU.

    bench/gpu_judge.py PROGRAM [--candidates FILE.jsonl] [--python PYTHON] [--standin BUILD] [--quick]

FILE has rows {"id", "task", "candidate"}; the default is test/honest and test/cheats. Prints
  agreement   CPU judge against real Triton: a 2 x 2 table, and every disagreement with its reason
  variation   coefficient of variation over kernels that are measured 5 times
  A/A         comparisons of a kernel with itself whose intervals do not overlap
  planted     how often a kernel that is made 3 % slower is seen (stand-in only; on a GPU: twice the work)
  throughput  candidates a second, checked and timed
  faults      verdicts for candidates with a hang, an illegal access and an assertion in the middle
--standin tries the script itself against the stand-in driver of a build folder.
"""
import argparse
import collections
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def own_candidates():
    for path in sorted((ROOT / "test/honest").glob("*.py")):
        task = re.search(r"^# task: (\w+)", path.read_text(), re.M)
        if task and not re.search(r"^# track: hybrid", path.read_text(), re.M):
            yield {"id": path.stem, "task": (ROOT / f"test/honest/tasks/{task[1]}.py").read_text(), "candidate": path.read_text()}
    for path in sorted((ROOT / "test/cheats").glob("*/*.py")):
        task = re.search(r"^# task: (\w+)", path.read_text(), re.M)
        source = ROOT / f"test/cheats/tasks/{task[1] if task else 'add'}.py"
        if path.parent.name != "tasks" and source.exists():
            yield {"id": f"{path.parent.name}/{path.stem}", "task": source.read_text(), "candidate": path.read_text()}


class Bench:
    def __init__(self, arguments, folder):
        self.a, self.folder, self.calls = arguments, folder, 0
        self.gpu = ["--device", "cuda"]
        if arguments.python:
            self.gpu += ["--gpu-python", arguments.python]
        if arguments.standin:
            build = pathlib.Path(arguments.standin).resolve()
            self.gpu += ["--gpu-driver", build / "standin/libcuda_standin.so", "--gpu-compiler", build / "tool/fake_compiler",
                         "--gpu-torch", "none"]

    def judge(self, rows, *options, gpu=True):
        """Verdicts in order, and seconds."""
        self.calls += 1
        source, out = f"{self.folder}/{self.calls}.jsonl", f"{self.folder}/{self.calls}.out"
        with open(source, "w") as f:
            f.writelines(json.dumps(row) + "\n" for row in rows)
        start = time.time()
        subprocess.run([self.a.program, "verify", "--jsonl", source, "--out", out, "--quiet", *(self.gpu if gpu else []),
                        *map(str, options)], stderr=subprocess.DEVNULL)
        took = time.time() - start
        return [json.loads(line) for line in open(out)], took


def agreement(bench, rows):
    cpu, _ = bench.judge(rows, gpu=False)
    gpu, took = bench.judge(rows, "--warmups", 0, "--trials", 0)
    table, reasons, unmeasured = collections.Counter(), [], collections.Counter()
    for row, a, b in zip(rows, cpu, gpu):
        if a["correct"] and b["correct"] and not b["gpu"]["ran"]:
            unmeasured[b["gpu"]["note"] or "?"] += 1
            continue
        table[a["correct"], b["correct"]] += 1
        if a["correct"] != b["correct"]:
            reasons.append(f"  {row['id']}: {b['stage']} {b['reason']}: {b['message']}")
    print(f"agreement over {len(rows)} candidates (rows: CPU judge, columns: with the GPU)")
    print(f"             correct   wrong\n  correct   {table[True, True]:8} {table[True, False]:7}\n"
          f"  wrong     {table[False, True]:8} {table[False, False]:7}\n  not run on the GPU: {sum(unmeasured.values())}")
    print("\n".join(reasons + [f"  {n} x {note}" for note, n in unmeasured.most_common()]))
    print(f"throughput, checked: {len(rows) / took:.1f} candidates/s")
    return [row for row, b in zip(rows, gpu) if b["correct"] and b["gpu"]["ran"]]


def timing(bench, rows):
    kernels = rows[:10 if bench.a.quick else 50]
    if not kernels:
        print("timing: no candidate ran")
        return
    times, took = collections.defaultdict(list), 0.0
    for _ in range(5):
        verdicts, seconds = bench.judge(kernels)
        took += seconds
        for row, v in zip(kernels, verdicts):
            if v["gpu"]["time"]:
                times[row["id"]].append(v["gpu"]["time"])
    spread = [statistics.stdev(t["seconds"] for t in v) / statistics.mean(t["seconds"] for t in v)
              for v in times.values() if len(v) > 1]
    pairs = [(a, b) for v in times.values() for a, b in zip(v, v[1:])]
    apart = sum(a["low"] > b["high"] or b["low"] > a["high"] for a, b in pairs)
    print(f"variation over {len(spread)} kernels x 5: median {100 * statistics.median(spread):.2f} %, "
          f"worst {100 * max(spread):.2f} % (aim 1 %)")
    print(f"A/A: {apart} of {len(pairs)} comparisons show a difference")
    print(f"throughput, timed: {5 * len(kernels) / took:.1f} candidates/s")


KERNEL = '''import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def NAME(x, y, out, n, LOOPS: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
    BODY
    tl.store(out + i, v, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = torch.empty_like(a)
        NAME[(triton.cdiv(out.numel(), 256),)](a, b, out, out.numel(), 1, B=256)
        return out
'''
TASK = '''import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return a + b


def get_inputs():
    return [torch.randn(64, 4096), torch.randn(64, 4096)]


def get_init_inputs():
    return []
'''


def kernel(name, body="pass"):
    return {"id": name, "task": TASK, "candidate": KERNEL.replace("NAME", name).replace("BODY", body)}


def planted(bench):
    rows = [kernel("plain"), kernel("slow_3") if bench.a.standin else kernel("more", "v += tl.load(x + i, mask=i < n) * 0.0")]
    seen = total = 0
    for _ in range(3 if bench.a.quick else 10):
        (a, b), _ = bench.judge(rows)
        if a["gpu"]["time"] and b["gpu"]["time"]:
            total += 1
            seen += b["gpu"]["time"]["low"] > a["gpu"]["time"]["high"]
    print(f"planted slowdown: seen {seen} of {total}")


def faults(bench):
    """Faults that only a GPU shows: contents make the kernel fail there, not in the CPU judge."""
    bad = {60: "fault_hang", 100: "fault_illegal", 140: "fault_die"} if bench.a.standin else {
        60: ("hang", "while tl.sum(v * 0.0, 0) > -1.0:\n        v += 0.0"),
        100: ("illegal", "tl.store(out + i + (1 << 40), v)"), 140: ("trap", "tl.device_assert(False)")}
    rows = []
    for i in range(200):
        row = kernel(bad[i]) if bench.a.standin and i in bad else kernel(*bad[i]) if i in bad else kernel(f"good_{i}")
        rows.append({**row, "id": f"{row['id']}-{i}"})
    verdicts, _ = bench.judge(rows, "--warmups", 0, "--trials", 2, "--gpu-timeout", 5)
    wrong = [v["id"] for v in verdicts if not v["correct"]]
    print(f"faults: {len(verdicts)} verdicts for 200 candidates; not correct: {', '.join(wrong)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--candidates")
    parser.add_argument("--python")
    parser.add_argument("--standin")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in open(arguments.candidates)] if arguments.candidates else list(own_candidates())
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, folder)
        ran = agreement(bench, rows[:40] if arguments.quick else rows)
        timing(bench, ran)
        planted(bench)
        faults(bench)


if __name__ == "__main__":
    sys.exit(main())
