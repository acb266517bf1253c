#!/usr/bin/env python3
"""Runs candidates as a user would: Python, Triton and PyTorch on a GPU. The judge takes no part.

    bench/gpu_truth.py ROWS.jsonl OUT.jsonl [--workers N] [--seconds X] [--naive N]

ROWS has {"id", "task", "candidate"}. Writes for each {"id", "truth": pass|fail|unsure, "why", "error"}: the
largest difference from the task's Model over three inputs, relative to the element and to the root mean
square of the tensor; up to 0.2 % is right, from 2 % on wrong. --naive N writes "naive", the milliseconds of
N measurements in a plain loop: 3 calls to warm up, then the mean of 100 calls between two events. Every
candidate runs in a process of its own. THIS EXECUTES THE CANDIDATES: use it on rows of our own only.
"""
import argparse
import json
import os
import select
import signal
import sys
import time
import types

SETS = 3


def load(text, name, folder):
    """A module from a text. Triton reads the source of kernels from the file."""
    path = os.path.join(folder, f"{name}_{os.getpid()}.py")
    with open(path, "w") as f:
        f.write(text)
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    with open(path, "rb") as f:             # the bytes: the text may say its encoding
        exec(compile(f.read(), path, "exec"), module.__dict__)
    return module


def tensors(value):
    import torch
    if torch.is_tensor(value):
        return [value]
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, (bool, int, float)):
        return [torch.tensor(value)]
    return [x for item in value for x in tensors(item)] if isinstance(value, (list, tuple)) else []


def moved(value):
    import torch
    if torch.is_tensor(value):
        return value.cuda()
    return type(value)(moved(x) for x in value) if isinstance(value, (list, tuple)) else value


def distance(got, expected):
    """The largest relative difference of two tensors; None if they cannot be compared."""
    if got.shape != expected.shape:
        return None
    a, b = got.double().cpu(), expected.double().cpu()
    if not b.numel():
        return 0.0
    same = (a == b) | (a.isnan() & b.isnan())
    rms = b[b.isfinite()].square().mean().sqrt() if b.isfinite().any() else 1.0
    error = (a - b).abs() / (b.abs() + rms + 1e-30)
    error[same] = 0.0
    return float(error.nan_to_num(nan=1e9, posinf=1e9).max())


def models(row, folder):
    import torch
    task, candidate = load(row["task"], "task", folder), load(row["candidate"], "candidate", folder)
    made = []
    for owner, name in ((task, "Model"), (candidate, "ModelNew")):
        torch.manual_seed(42)
        given = task.get_init_inputs()
        pair = len(given) == 2 and isinstance(given[0], list) and isinstance(given[1], dict)
        made.append((getattr(owner, name)(*given[0], **given[1]) if pair else getattr(owner, name)(*given)).cuda())
    made[1].load_state_dict(made[0].state_dict(), strict=False)
    return task, made


def naive(model, inputs, times):
    import torch
    out = []
    with torch.no_grad():
        for _ in range(times):
            for _ in range(3):
                model(*inputs)
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda.synchronize()
            start.record()
            for _ in range(100):
                model(*inputs)
            end.record()
            torch.cuda.synchronize()
            out.append(start.elapsed_time(end) / 100)
    return out


def judge(row, folder, times):
    import torch
    task, (reference, candidate) = models(row, folder)
    worst = 0.0
    for seed in range(SETS):
        torch.manual_seed(1000 + seed)
        inputs = moved(task.get_inputs())
        with torch.no_grad():
            expected = [x.clone() for x in tensors(reference(*[x.clone() if torch.is_tensor(x) else x for x in inputs]))]
            got = tensors(candidate(*inputs))
        torch.cuda.synchronize()
        if len(got) != len(expected):
            return {"truth": "fail", "why": "shape"}
        for a, b in zip(got, expected):
            error = distance(a, b)
            if error is None:
                return {"truth": "fail", "why": "shape"}
            worst = max(worst, error)
    verdict = {"truth": "pass" if worst <= 2e-3 else "fail" if worst > 2e-2 else "unsure", "why": "compared",
               "error": worst}
    if times and verdict["truth"] == "pass":
        verdict["naive"] = naive(candidate, inputs, times)
    return verdict


def child(row, folder, times, out):
    try:
        verdict = judge(row, folder, times)
    except BaseException as error:
        verdict = {"truth": "fail", "why": f"{type(error).__name__}: {error}"[-200:]}
    os.write(out, json.dumps({"id": row["id"], **verdict}).encode())


class Pool:
    """At most `most` children at a time; each has a time limit."""

    def __init__(self, most, seconds, out):
        self.most, self.seconds, self.out, self.running = most, seconds, out, {}

    def start(self, row, folder, times):
        while len(self.running) >= self.most:
            self.reap()
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            os.setpgid(0, 0)
            null = os.open("/dev/null", os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            child(row, folder, times, write)
            os._exit(0)
        os.close(write)
        self.running[read] = (pid, row["id"], time.time() + self.seconds)

    def reap(self):
        ready = select.select(list(self.running), [], [], 0.2)[0]
        late = [fd for fd, (_, _, end) in self.running.items() if time.time() > end and fd not in ready]
        for fd in ready + late:
            pid, name, _ = self.running.pop(fd)
            text = os.read(fd, 1 << 16) if fd in ready else b""
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(fd)
            why = "timeout" if fd in late else "died"
            self.out.write((text.decode() or json.dumps({"id": name, "truth": "fail", "why": why})) + "\n")
            self.out.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows")
    parser.add_argument("out")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--naive", type=int, default=0)
    a = parser.parse_args()
    import torch            # before the forks; CUDA starts in each child
    import triton           # noqa: F401
    folder = os.path.dirname(os.path.abspath(a.out))
    torch.set_num_threads(1)
    with open(a.out, "w") as out:
        pool = Pool(a.workers, a.seconds, out)
        for line in open(a.rows):
            pool.start(json.loads(line), folder, a.naive)
        while pool.running:
            pool.reap()


if __name__ == "__main__":
    sys.exit(main())
