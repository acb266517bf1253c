#!/usr/bin/env python3
"""KernelBench's own evaluation of candidates, for a comparison of throughput.

    bench/gpu_peer.py KERNELBENCH ROWS.jsonl OUT.jsonl [--trials N]

KERNELBENCH is a checkout of ScalingIntelligence/KernelBench; ROWS has {"id", "task", "candidate"}. Each row
is judged by eval_kernel_against_ref with its documented options: 5 correctness trials, 100 timed ones, one
candidate at a time on the GPU and in a process of its own, as its evaluation script does it. The fork of a
process that has imported PyTorch is cheaper than its spawn. Writes {"id", "compiled", "correct", "ms",
"reference_ms", "seconds", "why"}. THIS EXECUTES THE CANDIDATES: use it on rows of our own only.
"""
import argparse
import importlib
import json
import os
import select
import signal
import sys
import time
import types
from unittest import mock

# Packages for model providers and data sets, which the evaluation imports and does not use.
UNUSED = ["dotenv", "openai", "litellm", "requests", "tqdm", "datasets", "pydra", "modal", "tomli", "tabulate"]


def stand_in():
    """Empty packages in place of those that are missing."""
    for name in UNUSED:
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = mock.MagicMock()
    try:
        importlib.import_module("pydantic")
    except ImportError:
        class BaseModel:
            def __init__(self, **fields):
                for owner in reversed(type(self).__mro__):
                    for name, value in vars(owner).items():
                        if not name.startswith("_") and not callable(value):
                            setattr(self, name, value.copy() if isinstance(value, dict) else value)
                self.__dict__.update(fields)
        module = types.ModuleType("pydantic")
        module.BaseModel = BaseModel
        sys.modules["pydantic"] = module


def judge(row, trials):
    import torch
    from kernelbench.eval import eval_kernel_against_ref
    result = eval_kernel_against_ref(row["task"], row["candidate"], num_correct_trials=5, num_perf_trials=trials,
                                     measure_performance=True, backend="triton", device=torch.device("cuda:0"),
                                     precision=torch.float32)
    if result is None:
        return {"compiled": False, "correct": False, "why": "no result"}
    why = {key: str(value)[:120] for key, value in (result.metadata or {}).items() if key not in ("hardware", "device")}
    return {"compiled": bool(result.compiled), "correct": bool(result.correctness), "ms": getattr(result, "runtime", -1),
            "reference_ms": getattr(result, "ref_runtime", -1), "why": str(why)[:300] if why else ""}


def child(row, trials, out):
    try:
        verdict = judge(row, trials)
    except BaseException as error:
        verdict = {"compiled": False, "correct": False, "why": f"{type(error).__name__}: {error}"[-300:]}
    os.write(out, json.dumps({"id": row["id"], **verdict}).encode())


def run(row, trials, seconds):
    """The verdict of one candidate, by a child process."""
    read, write = os.pipe()
    begin, pid = time.time(), os.fork()
    if not pid:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        child(row, trials, write)
        os._exit(0)
    os.close(write)
    ready = select.select([read], [], [], seconds)[0]
    text = os.read(read, 1 << 16) if ready else b""
    os.close(read)
    if not ready:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    verdict = json.loads(text) if text else {"id": row["id"], "compiled": False, "correct": False,
                                             "why": "died" if ready else "timeout"}
    return {**verdict, "seconds": time.time() - begin}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernelbench")
    parser.add_argument("rows")
    parser.add_argument("out")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    a = parser.parse_args()
    import torch            # before the forks; CUDA starts in each child
    import triton           # noqa: F401
    sys.path.insert(0, os.path.join(os.path.abspath(a.kernelbench), "src"))
    stand_in()
    torch.set_num_threads(4)
    with open(a.out, "w") as out:
        for line in open(a.rows):
            print(json.dumps(run(json.loads(line), a.trials, a.seconds)), file=out, flush=True)


if __name__ == "__main__":
    sys.exit(main())
