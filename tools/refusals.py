#!/usr/bin/env python3
"""Reports by operator which generated pairs the judge refuses, and the estimated speed of the others.

    tritonrl tasks --no-verify --count 2000 --level 1,2,2,3 --split all --seed 77 --out rows.jsonl
    tools/refusals.py rows.jsonl ./tritonrl [--track hybrid] [--keep VERDICTS]

Judges each row's solution against its task. --keep names a file for the verdicts; an existing one is read
instead of judging again.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile


def judge(rows, program, track, out):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        for r in rows:
            f.write(json.dumps({"id": r["id"], "task": r["task"], "candidate": r["solution"]}) + "\n")
        f.flush()
        with open(out, "w") as o:
            subprocess.run([program, "verify", "--jsonl", f.name, "--track", track, "--no-general", "--json"], stdout=o, check=False)


def table(rows, verdicts):
    drawn, refused, why = collections.Counter(), collections.Counter(), collections.defaultdict(collections.Counter)
    for r in rows:
        v = verdicts.get(r["id"])
        if not v:
            continue
        for op in set(r["ops"].split(",")):
            drawn[op] += 1
            if not v["correct"]:
                refused[op] += 1
                why[op][v["reason"]] += 1
    print(f"{'operator':20}{'drawn':>8}{'refused':>9}  reasons")
    for op, n in sorted(drawn.items(), key=lambda x: (-refused[x[0]], -x[1])):
        print(f"{op:20}{n:8}{refused[op]:9}  {', '.join(f'{k} {c}' for k, c in why[op].most_common())}")


def speeds(rows, verdicts):
    for level in sorted({r["level"] for r in rows}):
        s = [verdicts[r["id"]]["speedup"] for r in rows if r["level"] == level and verdicts.get(r["id"], {}).get("correct")]
        if s:
            s.sort()
            print(f"level {level}: {len(s)} correct, {100 * sum(x >= 1 for x in s) / len(s):.1f} % at least as fast as eager by estimate, "
                  f"median {s[len(s) // 2]:.2f}")


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("rows")
    a.add_argument("program")
    a.add_argument("--track", default="strict")
    a.add_argument("--keep")
    a = a.parse_args()
    rows = [json.loads(line) for line in open(a.rows)]
    with tempfile.TemporaryDirectory() as folder:
        out = a.keep or os.path.join(folder, "verdicts.jsonl")
        if not os.path.exists(out):
            judge(rows, a.program, a.track, out)
        verdicts = {v["id"]: v for v in map(json.loads, open(out))}
    reasons = collections.Counter((v["verdict"], v["reason"]) for v in verdicts.values())
    print(f"{len(verdicts)} of {len(rows)} judged: " + ", ".join(f"{k[0]} {k[1]} {n}" for k, n in reasons.most_common()))
    table(rows, verdicts)
    speeds(rows, verdicts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
