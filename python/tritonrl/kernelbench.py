"""KernelBench's evaluation of a folder of samples, by the judge instead of a GPU.

    python -m tritonrl.kernelbench --run runs/mine --problems KernelBench/KernelBench --level 1 --track hybrid

Reads what its generation script writes, RUN/level_L_problem_P_sample_S_kernel.py, takes the references from
PROBLEMS/levelL/P_*.py, and writes RUN/eval_results.json in its form: for each problem a list of samples with compiled,
correctness and metadata. Times are the judge's estimates and are marked so.
"""
import argparse
import collections
import glob
import json
import os
import re
import sys

from tritonrl.client import Judge, at_fault

NAME = re.compile(r"level_(\d+)_problem_(\d+)_sample_(\d+)_kernel\.py$")


def read_samples(run, level=None):
    rows = []
    for path in sorted(glob.glob(os.path.join(run, "level_*_kernel.py"))):
        m = NAME.search(path)
        if m and level in (None, int(m[1])):
            rows.append((int(m[1]), int(m[2]), int(m[3]), path))
    return rows


def read_problem(problems, level, number):
    found = glob.glob(os.path.join(problems, f"level{level}", f"{number}_*.py"))
    if len(found) != 1:
        raise FileNotFoundError(f"{len(found)} files for problem {number} of level {level} in '{problems}'")
    with open(found[0], encoding="utf-8") as f:
        return f.read()


def result_of(sample, verdict):
    compiled = verdict["verdict"] == "correct" or verdict["stage"] in ("tiny", "full", "timing")
    meta = {k: verdict.get(k) for k in ("verdict", "stage", "reason", "message", "line", "kernelbench", "general", "judge")}
    estimate = {"speedup_estimate": verdict.get("speedup")} if verdict.get("speedup") else {}
    return {"sample_id": sample, "compiled": compiled, "correctness": verdict["verdict"] == "correct", "metadata": {**meta, **estimate},
            "runtime": -1.0, "runtime_stats": {}}


def evaluate(run, problems, level=None, **options):
    """The results by problem, as written to eval_results.json."""
    samples = read_samples(run, level)
    tasks = [read_problem(problems, lv, p) for lv, p, _, _ in samples]
    texts = [open(path, encoding="utf-8").read() for *_, path in samples]
    out = collections.defaultdict(list)
    with Judge(answers=True, **options) as j:
        for (_, p, s, _), v in zip(samples, j.verify_batch(tasks, texts)):
            if not at_fault(v):
                out[str(p)].append(result_of(s, v))
    return dict(out)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--run", required=True)
    a.add_argument("--problems", required=True)
    a.add_argument("--level", type=int)
    a.add_argument("--track", default="hybrid")
    a.add_argument("--url")
    o = a.parse_args()
    results = evaluate(o.run, o.problems, o.level, track=o.track, url=o.url)
    with open(os.path.join(o.run, "eval_results.json"), "w", encoding="utf-8") as f:
        json.dump(results, f, indent=1)
    n = sum(map(len, results.values()))
    print(f"{n} samples of {len(results)} problems: {sum(r['compiled'] for v in results.values() for r in v)} compiled, "
          f"{sum(r['correctness'] for v in results.values() for r in v)} correct")
    return 0


if __name__ == "__main__":
    sys.exit(main())
