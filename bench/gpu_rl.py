#!/usr/bin/env python3
"""Reinforcement learning by measured speed and by the estimate, from the same model, tasks and seed.

    bench/gpu_rl.py PROGRAM OUT [--model DIR] [--tasks FILE] [--held FILE] [--rl-steps N] [--seconds N] [--tasks-held N]
                    -- JUDGE OPTIONS

Trains twice for at most N steps: `estimate` with the CPU judge, `measured` with the judge options after `--`, for
example --judge-device cuda. Then the model and both results answer tasks that were kept out, and every correct
answer is timed with those options. OUT gets both run folders and the evaluations; each line is printed when it is
known. A run that --seconds cuts short is reported with the steps that it made.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Shares of --seconds: a training, an evaluation.
TRAIN, EVAL = 0.34, 0.1
# The model runs on the CPU: a model on the GPU that times candidates would disturb their times.
SAMPLING = ["--device", "cpu", "--prompt-style", "compact", "--temperature", "1.0", "--max-new-tokens", "800"]


def call(command, log, seconds):
    """Exit code; 124 after the time limit. A command is asked to end first, so that it saves."""
    with open(log, "w") as out:
        p = subprocess.Popen(list(map(str, command)), stdout=out, stderr=subprocess.STDOUT)
        try:
            return p.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            p.terminate()
            try:
                p.wait(timeout=20)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
            return 124


def tail(log):
    return " | ".join(pathlib.Path(log).read_text(errors="replace").splitlines()[-2:])[-300:]


def head_of(path, n, out):
    with open(path) as given:
        out.write_text("".join(line for line, _ in zip(given, range(n))))
    return out


def part(rows, key):
    """The mean of a value over the first and over the last tenth of the steps."""
    tenth = max(1, len(rows) // 10)
    return [statistics.mean(row.get(key) or 0.0 for row in rows[a:b]) for a, b in ((0, tenth), (len(rows) - tenth, len(rows)))]


def train(a, name, judge, tasks):
    out, log = a.out / name, a.out / f"{name}.log"
    seconds = a.seconds * TRAIN
    begin = time.time()
    rc = call([a.program, "train", "--stage", "rl", "--model", a.model, "--tasks", tasks, "--out", out, "--method", "grpo",
               "--rl-steps", a.rl_steps, "--tasks-per-step", 4, "--n", 8, "--max-length", 2048, "--weights", "fast", "--no-curriculum",
               "--budget-hours", f"{seconds / 3600:.4f}", *SAMPLING, *judge], log, seconds + 30)
    took = time.time() - begin
    metrics = out / "metrics.jsonl"
    rows = [json.loads(line) for line in open(metrics)] if metrics.exists() else []
    rows = [row for row in rows if row.get("stage") == "rl"]
    if not rows:
        print(f"{name}: no step, exit {rc} after {took:.0f} s: {tail(log)}", flush=True)
        return None
    change = ", ".join(f"{key} {low:.3f} to {high:.3f}" for key in ("reward", "correct", "speedup") for low, high in [part(rows, key)])
    print(f"{name}: {len(rows)} steps of 32 candidates in {took:.0f} s (exit {rc}); means of the first and the last tenth: {change}; "
          f"{statistics.mean(row.get('candidates_per_s') or 0 for row in rows):.1f} candidates/s", flush=True)
    found = sorted((out / "checkpoints").glob("*"), key=os.path.getmtime)
    return found[-1] if found else None


def evaluate(a, name, adapter, judge, held):
    out, log = a.out / f"eval-{name}.json", a.out / f"eval-{name}.log"
    rc = call([a.program, "eval", "--model", a.model, *(["--adapter", adapter] if adapter else []), "--tasks", held, "--n", 4, "--out", out,
               "--weights", "fast", *SAMPLING, *judge, "--baselines", "eager,tf32"], log, a.seconds * EVAL)
    if not out.exists():
        print(f"{name} on tasks that were kept out: exit {rc}: {tail(log)}", flush=True)
        return
    result = json.loads(out.read_text())
    measured = {key: value for key, value in (result.get("measured") or {}).items() if key not in ("device", "triton")}
    print(f"{name} on {result['num_tasks']} tasks that were kept out, {result['samples_per_task']} answers each: "
          f"{json.dumps(result['metrics'])[:400]}; measured {json.dumps(measured)}", flush=True)


def main():
    own, judge = sys.argv[1:], []
    if "--" in own:
        own, judge = own[:own.index("--")], own[own.index("--") + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--model", default=ROOT / "models/base")
    parser.add_argument("--tasks")
    parser.add_argument("--held", default=ROOT / "tasks/plain/test_level2.jsonl")
    parser.add_argument("--tasks-held", type=int, default=40)
    parser.add_argument("--rl-steps", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=500)
    a = parser.parse_args(own)
    a.out.mkdir(parents=True, exist_ok=True)
    tasks = a.tasks or a.out / "tasks.jsonl"
    if not a.tasks:
        rc = call([a.program, "tasks", "--level", 2, "--count", 120, "--seed", 5, "--out", tasks], a.out / "tasks.log", a.seconds * EVAL)
        if rc:
            sys.exit(f"no tasks: exit {rc}: {tail(a.out / 'tasks.log')}")
    held = head_of(a.held, a.tasks_held, a.out / "held.jsonl")
    adapters = {"model": None}
    for name, options in (("measured", judge), ("estimate", [])):
        adapters[name] = train(a, name, options, tasks)
    for name, adapter in adapters.items():
        if adapter or name == "model":
            evaluate(a, name, adapter, judge, held)


if __name__ == "__main__":
    sys.exit(main())
