#!/usr/bin/env python3
"""Every figure of the GPU judge in one call, on a machine with a GPU.

    bench/gpu_judge.py PROGRAM|WHEEL [--candidates FILE.jsonl[.gz]] [--solved FILE] [--answers FILE] [--tasks FILE]
                       [--compile FILE] [--inductor FILE.tgz] [--kernelbench CHECKOUT] [--out FOLDER] [--python PYTHON]
                       [--seconds N] [--quick] [--standin BUILD] [--steps LIST]

Candidates are test/honest, mutants of them, test/cheats, and rows {"id", "task", "candidate"} of files:
--candidates with labels as far as they are known ({"gpu": pass|fail|unsure, "gpu_ms", "reference_ms"}),
--solved with the solver's programs, --answers with those of a model; a file that is missing is left out. The solver writes
programs for the rows {"id", "task"} of --tasks, which join those of --solved.
Steps run in the order of --steps. Each gets its share (STEPS) of the time that is left, so that time which a step does not
need goes to those after it; a step that fails does not stop the others. The script ends within --seconds.
  agreement       strict track: CPU judge and GPU judge against candidates run by Python (bench/gpu_truth.py)
  hybrid          the same on the hybrid track
  labelled_check  the rows of --candidates on the GPU without timing: CPU judge, GPU judge and labels
  compile         torch.compile for the tasks of --compile, --answers, --solved into a cache, kept as inductor.tgz
  timed           coefficient of variation over 50 kernels x 5, A/A comparisons, 3 % more work, a plain loop
  peer            KernelBench's own evaluation of the kernels of `timed` (bench/gpu_peer.py)
  labelled        as labelled_check, with measured times beside the labels' and the estimate
  solved          the rows of --solved: right, wrong, not run and why; fast_p against baselines
  answers         the same for --answers, by level
  counters        kernels of `timed` with the profiler's counters
  faults          a hang, an illegal access, a trap, too much memory in the middle of 200 candidates
  smoke           three kernels, with all that the verdict says (only if --steps names it)
  rl              training by measured speed and by the estimate, bench/gpu_rl.py (only if --steps names it)
Steps up to `compile` measure no time, so that other programs may use the GPU meanwhile; torch.compile is a baseline of
`answers` and `solved` for the tasks that `compile` did, or that --inductor brings from an earlier call.
--out gets tables.txt, disagreements.txt, and all verdicts in verdicts.jsonl.gz, written after every call of the
judge; now.jsonl has those of the call that runs. --standin tries the script against the stand-in
driver of a build; with --python also what runs by Python, all of which fails without a GPU.
"""
import argparse
import collections
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback

from gpu_steps.agreement import agreement, hybrid, labelled, labelled_check
from gpu_steps.faults import faults
from gpu_steps.program import Bench, solve
from gpu_steps.rows import own_candidates, read_rows, read_tasks
from gpu_steps.speedups import answers, compile, rl, solved
from gpu_steps.tables import table
from gpu_steps.timing import counters, peer, smoke, timed


def start(bench):
    rc, out = bench.call([bench.program, "version"], 30, f"{bench.folder}/version.err")
    print(f"program: {out.strip()[:100] if not rc else f'exit {rc}: ' + open(f'{bench.folder}/version.err').read()[:400]}")
    rc, out = bench.call([bench.program, "doctor"], min(35, bench.a.seconds / 10))
    print("".join(f"  {line[:230]}\n" for line in out.splitlines()), end="")
    found = re.search(r"--gpu (\S+)", out)
    if rc == 124:
        print("  doctor: time limit")
        found = re.search(r"NVIDIA (\S+)", bench.call(["nvidia-smi", "-L"], 5)[1] if shutil.which("nvidia-smi") else "")
    bench.base = ["--gpu", found[1].lower()] if found else []
    bad = [n for n in ("user namespaces", "landlock", "seccomp") if not re.search(rf"^ok +{n}", out, re.M)]
    if bad and rc != 124 and not bench.a.standin:
        print(f"  the sandbox is not complete here ({', '.join(bad)}): candidates of our own run without it")
        bench.base.append("--unsafe-no-sandbox")
    print("  " + "; ".join(f"{path}: {shutil.disk_usage(path).free >> 30} GiB free" for path in ("/dev/shm", bench.folder)))


# The share that each step gets of the time that is left, beside the shares of the steps after it.
STEPS = {start: 1, smoke: 3, agreement: 12, hybrid: 4, labelled_check: 8, compile: 8, timed: 10, peer: 4, labelled: 10, solved: 10,
         answers: 14, counters: 3, faults: 3, rl: 42}


# What a step needs: without it no time is kept for the step.
NEEDS = {peer: lambda bench: bench.a.kernelbench,
         **dict.fromkeys((labelled, labelled_check), lambda bench: any(r["kind"] == "written" for r in bench.rows)),
         solved: lambda bench: any(r["kind"] == "solved" for r in bench.rows),
         answers: lambda bench: any(r["kind"] == "answer" for r in bench.rows)}


class Tee:
    """Standard output, also written to a file."""

    def __init__(self, path):
        self.file, self.out = open(path, "w"), sys.stdout

    def write(self, text):
        self.file.write(text)
        self.file.flush()
        self.out.write(text)

    def flush(self):
        self.file.flush()
        self.out.flush()


def finish(bench):
    """Totals, and all tables once more: the last lines are what a caller sees first."""
    if bench.agreed:
        print("--- all steps: verdicts, correct by the CPU judge, ran on the GPU, confirmed")
        for name, *n in [*bench.agreed, ("sum", *(sum(x) for x in list(zip(*bench.agreed))[1:]))]:
            print(f"  {name:20}" + "".join(f"{x:7}" for x in n), flush=True)
    if bench.truths:
        print("--- all steps: against what Python, Triton and PyTorch say (cheats are wrong by definition)")
        for kind in [*sorted({v[0] for v in bench.truths.values()}), None]:
            seen = [v for v in bench.truths.values() if kind in (None, v[0])]
            name = f"{kind or 'all'}, {len(seen)}"
            table(f"{name}: CPU judge and GPU judge", [(cpu, final) for _, cpu, final, ran, _ in seen if ran or not final])
            table(f"{name}: CPU judge and truth", [(cpu, truth) for _, cpu, _, _, truth in seen if truth is not None])
            table(f"{name}: GPU judge and truth", [(final, truth) for *_, final, ran, truth in seen if truth is not None and (ran or not final)])


def run_steps(bench, wanted):
    """Runs steps in order. A step gets its share of the time that is left."""
    named = {step.__name__: step for step in STEPS}
    todo = [start, *(named[name] for name in wanted if name != "start")]
    needed = [step for step in todo if NEEDS.get(step, lambda _: True)(bench)]
    for step in needed:
        shares = sum(STEPS[x] for x in needed[needed.index(step):])
        began = bench.step_begin = time.time()
        bench.step_end = began + (bench.end - began) * STEPS[step] / shares
        print(f"--- {step.__name__}")
        if bench.end - began < 6:
            print("  no time left")
            continue
        try:
            step(bench)
        except Exception:
            print("  " + traceback.format_exc()[-600:].replace("\n", "\n  "))
        print(f"  [{time.time() - began:.0f} of {bench.step_end - began:.0f} s, {max(0, bench.end - time.time()):.0f} s left]", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--candidates")
    parser.add_argument("--solved")
    parser.add_argument("--answers")
    parser.add_argument("--tasks")
    parser.add_argument("--compile")
    parser.add_argument("--inductor")
    parser.add_argument("--kernelbench")
    parser.add_argument("--out")
    parser.add_argument("--python")
    parser.add_argument("--standin")
    parser.add_argument("--steps", default="agreement,hybrid,compile,timed,peer,labelled,solved,answers,faults")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--quick", action="store_true")
    a = parser.parse_args()
    unknown = set(a.steps.split(",")) - {step.__name__ for step in STEPS}
    if unknown:
        parser.error(f"unknown steps: {', '.join(sorted(unknown))}")
    # Every wait has a limit of its own; this one holds if a step computes for too long.
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("the time is over"))
    signal.setitimer(signal.ITIMER_REAL, a.seconds + 3)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("SIGTERM: told to end"))
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)         # judging processes have another user
        bench = Bench(a, folder)
        sys.stdout = Tee(bench.out / "tables.txt")
        try:
            bench.rows = own_candidates() + read_rows(a.candidates, "written") + read_rows(a.solved, "solved") + \
                read_rows(a.answers, "answer") + read_tasks(a.compile)
            bench.unpack_compiled(a.inductor)
            bench.rows += solve(bench, a.tasks)
            print(f"candidates: {dict(collections.Counter(r['kind'] for r in bench.rows))}")
            run_steps(bench, a.steps.split(","))
        finally:
            finish(bench)


if __name__ == "__main__":
    sys.exit(main())
