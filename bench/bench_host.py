#!/usr/bin/env python3
"""Forward of KernelBench problems in the host engine beside PyTorch CPU eager on the same sizes,
problem by problem in one run.

    bench_host.py --kernelbench DIR [--levels 1,2,3] [--only N,..] [--size 4] [--threads 1] [--over 1.5]

Sizes: the smallest legal ones from --size up; weights keep theirs. With one thread processor
time is measured, so other work on the machine matters little; with more, wall time. Printed:
problems above --over, the median and the largest ratio."""
import argparse
import glob
import os
import statistics
import sys
import time

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TREE, "test/agree"))
import agree_host
import torch
from _host_task import time_torch


def measure(args, path):
    """(our ms, PyTorch's ms, sizes), or a text that says why not."""
    with open(path) as f:
        source = f.read()
    sized = agree_host.fitting(lambda most: agree_host.run_ours(args, path, source, "-", most))
    if sized["status"] != "ok":
        return sized["text"]
    words = ["time", f"threads={args.threads}"] + [f"{k}={v}" for k, v in sized["overrides"].items()]
    ours = agree_host.host_run(args.build, path, "-", args.seed, words)
    if ours["status"] != "ok":
        return ours["text"]
    clock = time.perf_counter if args.threads > 1 else time.process_time
    return ours["forward_ms"], time_torch(source, sized["overrides"], args.seed, clock), agree_host.sizes(sized)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.path.join(TREE, "build/release"))
    p.add_argument("--kernelbench", default=os.environ.get("KERNELBENCH"), required=not os.environ.get("KERNELBENCH"))
    p.add_argument("--levels", default="1,2,3")
    p.add_argument("--only", type=lambda s: [int(x) for x in s.split(",")])
    p.add_argument("--size", type=int, default=4)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--seed", type=int, default=42)
    p.add_argument("--over", type=float, default=1.5)
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    for level in args.levels.split(","):
        ratios = []
        for path in sorted(glob.glob(os.path.join(args.kernelbench, f"level{level}", "*.py")), key=agree_host.number):
            if args.only and agree_host.number(path) not in args.only:
                continue
            name = f"level{level}/{os.path.basename(path)[:-3]}"
            r = measure(args, path)
            if isinstance(r, str):
                print(f"{name}: not measured: {r}", flush=True)
                continue
            ratios.append(r[0] / r[1])
            if ratios[-1] >= args.over:
                print(f"{ratios[-1]:6.2f}x  {r[0]:10.3f} ms, PyTorch {r[1]:10.3f} ms  {name}  {r[2]}", flush=True)
        if ratios:
            print(f"level{level}: {len(ratios)} problems at {args.threads} thread(s), size from {args.size}: median {statistics.median(ratios):.2f}x PyTorch's time, "
                  f"largest {max(ratios):.2f}x, {sum(r > 1.5 for r in ratios)} above 1.5x, {sum(r > 5 for r in ratios)} above 5x", flush=True)


if __name__ == "__main__":
    main()
