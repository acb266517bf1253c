"""Real Triton compiles the generator's solutions: pairs as they are drawn, at the task's own sizes."""
import json
import os
import subprocess
import sys
import tempfile

from _compile_launches import check

COUNT = int(os.environ.get("GEN_COUNT", "60"))
SEED = os.environ.get("GEN_SEED", "31")


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        rows = subprocess.run([os.environ["TRITONRL"], "tasks", "--no-verify", "--quiet", "--level", "1,2,2,3", "--split", "all",
                               "--count", str(COUNT), "--seed", SEED, "--out", "-"], check=True, capture_output=True, text=True).stdout
        for row in map(json.loads, rows.splitlines()):
            try:
                check(row, folder)
            except Exception as e:
                failed += 1
                print(f"{row['id']} ({row['ops']}): {type(e).__name__}: {str(e)[-400:]}")
    print(f"{COUNT - failed} passed, {failed} failed, 0 skipped")
    return failed != 0


sys.exit(main())
