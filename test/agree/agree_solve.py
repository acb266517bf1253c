"""Real Triton compiles the solver's solutions: the modules of test/solve, each in several variants, or with
--jsonl FILE the rows of a file (id, task, solution or candidate). --part I/N takes every N-th row from I on."""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

from _compile_launches import check

HERE = os.path.dirname(os.path.abspath(__file__))
VARIANTS = "3"


def solutions(path):
    with open(path) as f:
        task = f.read()
    out = subprocess.run([os.environ["TRITONRL"], "solve", path, "--no-verify", "--quiet", "--json", "--variants", VARIANTS],
                         check=True, capture_output=True, text=True).stdout
    name = os.path.basename(path)[:-3]
    for i, row in enumerate(map(json.loads, out.splitlines())):
        yield {"id": f"{name}_{i}", "task": task, "solution": row["solution"]}


def rows_of(path, part):
    first, step = map(int, part.split("/"))
    with open(path) as f:
        for i, line in enumerate(f):
            row = json.loads(line)
            if i % step == first:
                yield {"id": row["id"], "task": row["task"], "solution": row.get("solution") or row["candidate"]}


def of_tests():
    for path in sorted(glob.glob(os.path.join(HERE, "../solve/*.py"))):
        yield from solutions(path)


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--jsonl")
    ap.add_argument("--part", default="0/1")
    a = ap.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        for row in rows_of(a.jsonl, a.part) if a.jsonl else of_tests():
            try:
                check(row, folder, ("cpu", "meta") if a.jsonl else ("meta",))
                passed += 1
            except Exception as e:
                failed += 1
                print(f"{row['id']}: {type(e).__name__}: {str(e)[-400:]}")
            if (passed + failed) % 50 == 0:
                print(f"{passed} passed, {failed} failed so far", file=sys.stderr, flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


sys.exit(main())
