#!/usr/bin/env python3
"""The tile front end against real Triton: every kernel under test/tile/kernels with its
`# signature:` lines, their mutants, and, where folders are named, the kernels of public
libraries. No GPU is needed: Triton's own front end runs to its IR.

Compared: accepted or refused; the line of a refusal; where both accept, the types and shapes of
all stored values and of all operands of tl.dot in the IR.

    agree_tile_front.py [--full] [--corpus FOLDER]... [--mutants N] [--show N] [--seed N]
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import _tile_corpus as corpus
import _tile_real as real

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("BUILD_DIR", ROOT / "build/release")) / "tool/tile_check"
LEAST = {"verdict": 0.98, "line": 0.95, "types": 1.0}


class Ours:
    def __init__(self):
        self.p = subprocess.Popen([str(TOOL)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def check(self, case):
        self.p.stdin.write(f"{case.path}\t{case.kernel}\t{case.signature}\n")
        self.p.stdin.flush()
        line = self.p.stdout.readline()
        if not line:
            raise SystemExit(f"tile_check ended at {case.path} {case.kernel} {case.signature}")
        return json.loads(line)


def compare(theirs, mine, tally):
    """One case: what differs, as a word, or None."""
    accept = theirs["accept"]
    if accept is None:
        tally["never reached Triton"] += 1
        return None
    tally["cases"] += 1
    tally["refused by Triton"] += not accept
    if mine["result"] not in ("accept", "refuse", "syntax"):
        tally["verdict differs"] += 1
        return "error"
    if (mine["result"] == "accept") != accept:
        tally["verdict differs"] += 1
        return "verdict"
    tally["runs nowhere"] += mine["result"] == "accept" and mine["reason"] == "unsupported"
    if not accept:
        if theirs["line"] is None:
            return None
        tally["lines"] += 1
        if theirs["line"] != mine["line"]:
            tally["line differs"] += 1
            return "line"
        return None
    tally["typed"] += 1
    tally["typed values"] += len(theirs["types"])
    if set(theirs["types"]) != set(mine["trace"]):
        tally["types differ"] += 1
        return "types"
    return None


def rate(bad, n):
    return 1.0 if not n else 1 - bad / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--full", action="store_true", help="all cases; otherwise a sample under three minutes")
    ap.add_argument("--corpus", action="append", default=[], help="a folder of Python files with kernels, for measuring")
    ap.add_argument("--most", type=int, default=0, help="kernels taken from each corpus, drawn at random; 0: all")
    ap.add_argument("--mutants", type=int, default=2, help="mutants for each accepted case")
    ap.add_argument("--show", type=int, default=20, help="differences to print")
    ap.add_argument("--only", help="regular expression on file and kernel")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--save", help="write every difference to this file")
    ap.add_argument("--memory", help="a file that keeps Triton's answers for the next run")
    args = ap.parse_args()
    asked = real.Memory(args.memory).check if args.memory else real.check
    rng = random.Random(args.seed)
    ours, tally, reasons, shown = Ours(), Counter(), Counter(), []
    with tempfile.TemporaryDirectory() as tmp:
        cases = corpus.committed(ROOT / "test/tile/kernels")
        for folder in args.corpus:
            cases += corpus.harvest(Path(folder), Path(tmp), asked, args.most, rng)
        if args.only:
            cases = [c for c in cases if re.search(args.only, f"{c.path} {c.kernel}")]
        if not args.full and len(cases) > 400:
            cases = rng.sample(cases, 400)
        queue = list(cases)
        for number, case in enumerate(queue):
            theirs = asked(case)
            mine = ours.check(case)
            what = compare(theirs, mine, tally)
            if mine["result"] == "refuse":
                reasons[mine["reason"]] += 1
            if what:
                shown.append((what, case, theirs, mine))
            if theirs["accept"] and not case.mutant:
                queue.extend(corpus.mutants(case, Path(tmp), args.mutants, rng))
        for what, case, theirs, mine in shown[:args.show]:
            print(f"--- {what}: {case.path} {case.kernel}\n    {case.signature}\n    Triton: {theirs.get('line')} {theirs.get('text')}"
                  f"\n    ours:   {mine['result']} {mine.get('reason')} {mine.get('line')} {mine.get('text')}")
            if what == "types":
                print("    only Triton:", sorted(set(theirs["types"]) - set(mine["trace"])), "only ours:", sorted(set(mine["trace"]) - set(theirs["types"])))
            if case.mutant:
                print("    mutant:", case.mutant)
        if args.save:
            with open(args.save, "w") as out:
                for what, case, theirs, mine in shown:
                    out.write(json.dumps({"what": what, "path": str(case.path), "kernel": case.kernel, "signature": case.signature,
                                          "mutant": case.mutant, "origin": case.origin, "theirs": theirs, "ours": mine,
                                          "source": Path(case.path).read_text()}) + "\n")
    rates = {"verdict": rate(tally["verdict differs"], tally["cases"]), "line": rate(tally["line differs"], tally["lines"]),
             "types": rate(tally["types differ"], tally["typed"])}
    for key in sorted(tally):
        print(f"{key:22} {tally[key]}")
    print("reasons:", ", ".join(f"{r} {n}" for r, n in reasons.most_common()))
    print("agree_tile_front: %d cases, verdict %.2f %%, line %.2f %%, types %.2f %%" % (
        tally["cases"], 100 * rates["verdict"], 100 * rates["line"], 100 * rates["types"]))
    bad = [k for k in LEAST if rates[k] < LEAST[k]]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
