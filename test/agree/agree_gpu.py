#!/usr/bin/env python3
"""The parts of the GPU judge that need no GPU, against the real ones.

Compiler: every honest candidate (test/honest) that has a launch plan must compile with the real Triton,
from the source that our syntax tree prints. PyTorch process: expected results and baselines of the
trusted process must fit candidates that run on the stand-in driver.

    BUILD_DIR=FOLDER TRITONRL=PROGRAM agree_gpu.py
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Candidates without a plan: calls that a plan cannot express yet. Only ever lowered.
UNAVAILABLE_MOST = 10


def honest():
    """Pairs of task and candidate, by track."""
    rows = collections.defaultdict(list)
    for path in sorted((ROOT / "test/honest").glob("*.py")):
        text = path.read_text()
        task = re.search(r"^# task: (\w+)", text, re.M)
        track = re.search(r"^# track: (\w+)", text, re.M)
        if task:
            rows[track[1] if track else "strict"] += [str(ROOT / f"test/honest/tasks/{task[1]}.py"), str(path)]
    return rows


def check_compiler(build):
    counts = collections.Counter()
    for track, pairs in honest().items():
        out = subprocess.run([build / "tool/gpu_compile", sys.executable, track, *pairs], capture_output=True, text=True)
        for line in out.stdout.splitlines():
            path, state, *rest = line.split(" ", 2)
            if path == "triton":
                continue
            counts[state] += 1
            if state not in ("compiled", "unavailable"):
                print(f"{os.path.basename(path)}: {state} {' '.join(rest)}")
            elif state == "unavailable" and "-v" in sys.argv:
                print(f"{os.path.basename(path)}: {' '.join(rest)}")
    print(f"Triton compiles {counts['compiled']}, {counts['unavailable']} have no plan, others {dict(counts)}")
    failed = sum(counts.values()) - counts["compiled"] - counts["unavailable"]
    return counts["compiled"], failed + (counts["unavailable"] > UNAVAILABLE_MOST) + (counts["compiled"] == 0)


def check_torch(build, program):
    """Candidates on the stand-in driver against expected results and times of the real PyTorch."""
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        for name in ("add_flat", "gelu_rows", "layer_norm_row", "linear_dot_products", "linear_grouped", "col_sum_atomic"):
            path = ROOT / f"test/honest/{name}.py"
            task = ROOT / "test/honest/tasks" / (re.search(r"^# task: (\w+)", path.read_text(), re.M)[1] + ".py")
            out = subprocess.run(
                [program, "verify", path, "--task", task, "--json", "--quiet", "--device", "cuda", "--gpu-driver",
                 build / "standin/libcuda_standin.so", "--gpu-compiler", build / "tool/fake_compiler", "--gpu-python",
                 sys.executable, "--gpu-torch", "cpu", "--warmups", "1", "--trials", "4", "--baselines", "eager,tf32"],
                capture_output=True, text=True)
            try:
                verdict = json.loads(out.stdout)
                good = verdict["correct"] and verdict["timed"] == "gpu" and verdict["speedup_is"] == "measured" and \
                    set(verdict["gpu"]["baselines"]) == {"eager", "tf32"} and \
                    (verdict["gpu"]["product_floor_seconds"] > 0) == (name == "linear_grouped")
            except (ValueError, KeyError):
                good = False
            if not good:
                print(f"{name}: {out.stdout[-600:]}{out.stderr[-600:]}")
            passed, failed = passed + good, failed + (not good)
    return passed, failed + (passed + failed == 0)


def main():
    build, program = pathlib.Path(os.environ["BUILD_DIR"]), pathlib.Path(os.environ["TRITONRL"])
    results = [check_compiler(build), check_torch(build, program)]
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
