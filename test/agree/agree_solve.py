"""Real Triton compiles the solver's solutions: the modules of test/solve, each in several variants."""
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


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        for path in sorted(glob.glob(os.path.join(HERE, "../solve/*.py"))):
            for row in solutions(path):
                try:
                    check(row, folder)
                    passed += 1
                except Exception as e:
                    failed += 1
                    print(f"{row['id']}: {type(e).__name__}: {str(e)[-400:]}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


sys.exit(main())
