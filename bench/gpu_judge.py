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
import gzip
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import traceback
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Each with the mutations that are tried on a kernel's lines, in order.
MUTATIONS = [(r" \+ ", " - "), (r" \* ", " + "), (r"tl\.maximum", "tl.minimum"), (r"tl\.sum", "tl.max"), (r" < ", " <= "),
             (r"other=0\.0", "other=1.0"), (r"tl\.exp\(", "tl.abs("), (r" / ", " * "), (r"axis=1", "axis=0"), (r"- ", "+ ")]
MUTANTS = 3


# --- candidates -----------------------------------------------------------------------------------

def header(text, key, default=None):
    found = re.search(rf"^# {key}: *(\S+)", text, re.M)
    return found[1] if found else default


def row_of(path, kind, tasks):
    text = path.read_text()
    source = tasks / f"{header(text, 'task', 'add')}.py"
    if not source.exists():
        return None
    return {"id": f"{kind}/{path.parent.name}/{path.stem}", "kind": kind, "task": source.read_text(), "candidate": text,
            "track": header(text, "track", "strict")}


def mutants(row):
    """Copies of a candidate with one token of a kernel changed."""
    lines, made = row["candidate"].splitlines(), []
    kernel = False
    for number, line in enumerate(lines):
        kernel = line.startswith("@triton.jit") or (kernel and not re.match(r"class |@(?!triton)", line))
        for k, (old, new) in enumerate(MUTATIONS):
            if kernel and line.startswith("    ") and "tl." in line and re.search(old, line):
                changed = lines[:number] + [re.sub(old, new, line, count=1)] + lines[number + 1:]
                made.append({**row, "id": f"{row['id']}~{number + 1}.{k}", "kind": "mutant",
                             "candidate": "\n".join(changed) + "\n"})
    random.Random(row["id"]).shuffle(made)
    return made[:MUTANTS]


def own_candidates():
    rows = [row_of(p, "honest", ROOT / "test/honest/tasks") for p in sorted((ROOT / "test/honest").glob("*.py"))]
    rows = [r for r in rows if r]
    rows += [m for r in rows for m in mutants(r)]
    cheats = [p for p in sorted((ROOT / "test/cheats").glob("*/*.py")) if p.parent.name != "tasks"]
    for path in cheats:
        if re.search(r"^# (contract|without):", path.read_text(), re.M):
            continue            # judged with other options
        row = row_of(path, "control" if re.search(r"^# control", path.read_text(), re.M) or "control_correct" in str(path)
                     else "cheat", ROOT / "test/cheats/tasks")
        rows += [row] if row else []
    return rows


def read_rows(path, kind):
    if not path:
        return []
    if not os.path.exists(path):
        print(f"  {path} is not there: no candidates of the kind '{kind}'")
        return []
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        rows = [{**json.loads(line), "kind": kind} for line in f if line.strip()]
    rows = [row for row in rows if row.get("task") and row.get("candidate")]
    return [{**row, "id": f"{kind}/{k}/{row['id']}"} for k, row in enumerate(rows)] if kind != "written" else rows


def read_tasks(path):
    """Rows without candidates, for torch.compile."""
    if not path or not os.path.exists(path):
        return []
    return [{**json.loads(line), "kind": "compile"} for line in open(path) if line.strip()]


def solve(bench, path):
    """Rows with the solver's programs for the tasks of a file."""
    if not path:
        return []
    tasks = {row["id"]: row["task"] for row in map(json.loads, open(path))}
    out = f"{bench.folder}/solved.jsonl"
    rc, _ = bench.call([bench.program, "solve", "--jsonl", path, "--json", "--no-verify", "--out", out], min(90, bench.a.seconds / 5), f"{bench.folder}/solve.err")
    found = [json.loads(line) for line in open(out)] if os.path.exists(out) else []
    print(f"  solver: {sum(row['solved'] for row in found)} of {len(tasks)} tasks (exit {rc})")
    return [{"id": f"solved/{row['id']}", "kind": "solved", "task": tasks[row["id"]], "candidate": row["solution"]}
            for row in found if row["solved"] and row.get("solution")]


# Prints the bytes of the inputs of each task, from tensors without contents.
SIZES = '''
import json, sys, torch
def size(v):
    return v.numel() * v.element_size() if torch.is_tensor(v) else sum(map(size, v)) if isinstance(v, (list, tuple)) else 0
for line in sys.stdin:
    try:
        space = {}
        with torch.device("meta"):
            exec(json.loads(line), space)
            print(size(space["get_inputs"]()), flush=True)
    except Exception:
        print(-1, flush=True)
'''


# --- the program ----------------------------------------------------------------------------------

class Bench:
    def __init__(self, a, folder):
        self.a, self.folder, self.calls = a, folder, itertools.count()
        self.end = time.time() + a.seconds
        self.step_begin, self.step_end, self.large = time.time(), self.end, None
        self.agreed, self.compiled, self.truths = [], [], {}
        self.out = pathlib.Path(a.out or folder)
        self.out.mkdir(parents=True, exist_ok=True)
        self.program = self.unpack(a.program)
        self.python = a.python or shutil.which("python3")
        self.scratch = pathlib.Path(folder)
        self.gpu = ["--device", "cuda", "--gpu-python", self.python]
        self.base = []
        if a.standin:
            build = pathlib.Path(a.standin).resolve()
            self.gpu = ["--device", "cuda", "--gpu-driver", build / "standin/libcuda_standin.so", "--gpu-compiler",
                        build / "tool/fake_compiler", "--gpu-cupti", build / "standin/libcuda_standin.so", "--gpu-python", self.python, "--gpu-torch", "cpu" if a.python else "none"]

    def unpack(self, path):
        """The program; a wheel is unpacked: program and libraries lie next to each other there."""
        if not path.endswith(".whl"):
            return os.path.abspath(path)
        with zipfile.ZipFile(path) as z:
            z.extractall(f"{self.folder}/wheel")
        program = f"{self.folder}/wheel/tritonrl/bin/tritonrl"
        os.chmod(program, 0o755)
        return program

    def left(self, share=1.0):
        """Seconds for a part of a step that may take this share of the step's time."""
        return max(0.1, min(share * (self.step_end - self.step_begin), self.step_end - time.time() - 1.0))

    def environment(self):
        """Compiling in threads would start 16 processes for each start of PyTorch."""
        return {**os.environ, "XDG_CACHE_HOME": f"{self.folder}/cache", "TORCHINDUCTOR_CACHE_DIR": f"{self.folder}/inductor",
                "TORCHINDUCTOR_COMPILE_THREADS": "1"}

    def compiled_list(self):
        """A file that names the tasks whose compilation is in the cache."""
        path = f"{self.folder}/compiled.json"
        with open(path, "w") as f:
            json.dump(sorted({hash_of(task) for task in self.compiled}), f)
        return path

    def unpack_compiled(self, path):
        """The cache that an earlier call kept."""
        if not path or not os.path.exists(path):
            print(f"  {path} is not there: torch.compile starts without a cache" if path else "", end="\n" if path else "")
            return
        folder = f"{self.folder}/inductor"
        os.makedirs(folder, exist_ok=True)
        with tarfile.open(path) as tar:
            tar.extractall(folder, filter="data")
        known = set(json.load(open(f"{folder}/compiled.json")))
        self.compiled += sorted({r["task"] for r in self.rows if hash_of(r["task"]) in known})
        print(f"  {path}: torch.compile of {len(known)} tasks, {len(self.compiled)} of them among the rows")

    def bytes_of(self, row):
        """Bytes of the inputs of a row's task; -1: not known."""
        if self.large is None:
            self.large = sizes(self, self.rows)
        return self.large.get(row["task"], -1)

    def call(self, command, seconds, log=None, out=None):
        """Exit code and output, or its file. At the time limit the whole process group ends; the code is 124 then."""
        with open(log or os.devnull, "w") as err, open(out or os.devnull, "w") as file:
            p = subprocess.Popen(list(map(str, command)), stdout=file if out else subprocess.PIPE, stderr=err, text=True, start_new_session=True,
                                 env=self.environment())
            try:
                out, _ = p.communicate(timeout=seconds)
                return p.returncode, out
            except subprocess.TimeoutExpired:
                return 124, ""
            finally:
                if p.poll() is None:            # the limit, or this script was told to end
                    os.killpg(p.pid, signal.SIGKILL)
                    p.communicate()

    def keep(self, name, path):
        """The rows of a file by id. They also go to the archive, which can be read at any time."""
        rows = {}
        for line in open(path) if path.exists() else []:
            try:
                row = json.loads(line)
                rows[row["id"]] = row
            except ValueError:
                pass            # the last line of a run that was stopped
        with gzip.open(self.out / "verdicts.jsonl.gz", "at") as f:
            f.writelines(json.dumps({"step": name, **row}) + "\n" for row in rows.values())
        return rows

    def judge(self, name, rows, *options, gpu=True, share=1.0):
        """Verdicts by id, and seconds. At the time limit the verdicts so far count."""
        call = next(self.calls)
        source, out, log = f"{self.folder}/{call}.in", self.out / "now.jsonl", f"{self.folder}/{call}.err"
        if out.exists():
            out.unlink()
        with open(source, "w") as f:
            f.writelines(json.dumps({k: row[k] for k in ("id", "task", "candidate")}) + "\n" for row in rows)
        start = time.time()
        first = self.watch(out, start)
        rc, _ = self.call([self.program, "verify", "--jsonl", source, "--out", out, "--unordered", *self.base,
                           *(self.gpu if gpu else []), *options], self.left(share), log)
        took = time.time() - start
        self.started = first[0] if first else took          # seconds to the first verdict
        verdicts = self.keep(name, out)
        out.unlink(missing_ok=True)
        said = [line.strip()[:200] for line in open(log, errors="replace") if "the GPU judge:" in line or "warning" in line]
        print("".join(f"  | {line}\n" for line in said[:5] + said[5:][-1:]), end="")
        if rc == 124:           # a judge that is killed leaves the files of a task
            for folder in [*pathlib.Path("/dev/shm").glob("tritonrl-torch-*"), *pathlib.Path("/tmp").glob("tritonrl-compile-*")]:
                if folder.stat().st_mtime >= start:
                    shutil.rmtree(folder, ignore_errors=True)
        if len(verdicts) < len(rows):
            text = open(log, errors="replace").read().splitlines()
            note = "time limit" if rc == 124 else f"exit {rc}"
            print(f"  [{name}: {note} after {took:.0f} s, {len(verdicts)} of {len(rows)} verdicts]")
            print("\n".join("  | " + line[:200] for line in (text[:4] + text[-3:] if rc != 124 else text[-3:])))
        return verdicts, took

    def watch(self, out, start):
        """A list that gets the seconds until a file has contents."""
        seen = []

        def look():
            while not seen and time.time() < self.end:
                if out.exists() and out.stat().st_size:
                    seen.append(time.time() - start)
                time.sleep(0.05)
        threading.Thread(target=look, daemon=True).start()
        return seen

    def truth(self, name, rows, *options, share=1.0, script=("bench/gpu_truth.py",)):
        """What Python, Triton and PyTorch say, by id."""
        call = next(self.calls)
        source, out = f"{self.folder}/{call}.rows", self.scratch / f"{name}.jsonl"
        with open(source, "w") as f:
            f.writelines(json.dumps({k: row[k] for k in ("id", "task", "candidate")}) + "\n" for row in rows)
        start, log = time.time(), f"{self.folder}/{call}.err"
        rc, _ = self.call([self.python, ROOT / script[0], *script[1:], source, out, *options], self.left(share), log)
        verdicts = self.keep(name, out)
        if rc:
            print(f"  [{name}: exit {rc} after {time.time() - start:.0f} s, {len(verdicts)} of {len(rows)}] "
                  + open(log, errors="replace").read()[-300:])
        return verdicts, time.time() - start

    def can_run_python(self):
        return not self.a.standin or self.a.python

    def remember(self, step, rows, gpu, truth):
        """For the table over all steps: what CPU judge, GPU judge and truth(row) (None: not known) say."""
        for r in rows:
            if r["id"] in gpu:
                v = gpu[r["id"]]
                self.truths[step, r["id"]] = r["kind"], cpu_says(v), v["correct"], bool(self.gpu_of(v).get("ran")), truth(r)

    def gpu_of(self, v):
        return v.get("gpu") or {}

    def note(self, v):
        return (self.gpu_of(v).get("note") or "?")[:110]

    def disagree(self, step, lines):
        with open(self.out / "disagreements.txt", "a") as f:
            f.writelines(f"{step}: {key} {name}\n" for key, name in lines)


# --- steps ----------------------------------------------------------------------------------------

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


# Compiles tasks by torch.compile into the cache of the trusted PyTorch process, several at a time: one
# takes seconds there, during which no candidate is measured.
WARM = '''
import json, os, sys
sys.path.insert(0, sys.argv[1])
import torch, triton, torch_worker
rows, workers, device = [json.loads(line) for line in open(sys.argv[2])], int(sys.argv[3]), sys.argv[4]
children = []
for k in range(workers):
    pid = os.fork()
    if pid:
        children.append(pid)
        continue
    torch.set_num_threads(1)
    for row in rows[k::workers]:
        try:
            task = torch_worker.Task({"task": row["task"], "sets": 1, "seed": 0, "eval": False}, device)
            task.time("compile", 1, 1)
            text = json.dumps({"id": row["id"]})
        except Exception as error:
            text = json.dumps({"id": row["id"], "why": f"{type(error).__name__}: {error}"[:200]})
        os.write(1, text.encode() + b"\\n")
        task = None
        torch._dynamo.reset()
        if device != "cpu":
            torch.cuda.empty_cache()
    os._exit(0)
for pid in children:
    os.waitpid(pid, 0)
'''
INDUCTOR_MOST = 15 << 20        # bytes of inductor.tgz


def compile(bench):
    """Fills the cache of torch.compile. In a call whose GPU is busy this costs no time of a measurement later."""
    tasks = {r["task"]: r["id"] for kind in ("solved", "answer", "compile", "written") for r in reversed(bench.rows) if r["kind"] == kind}
    rows = [{"id": name, "task": task} for task, name in tasks.items() if 0 <= bench.bytes_of({"task": task}) <= 1 << 30]
    rows.sort(key=lambda r: (r["task"] not in {x["task"] for x in bench.rows if x["kind"] == "answer"}, hash_of(r["task"])))
    rows = rows[:4] if bench.a.quick else rows
    script, source, out = f"{bench.folder}/warm.py", f"{bench.folder}/warm.rows", f"{bench.folder}/warm.out"
    pathlib.Path(script).write_text(WARM)
    with open(source, "w") as f:
        f.writelines(json.dumps(row) + "\n" for row in rows)
    begin, device = time.time(), "cpu" if bench.a.standin else "cuda:0"
    rc, _ = bench.call([bench.python, script, ROOT / "python/tritonrl", source, max(1, min(10, (os.cpu_count() or 2) * 5 // 8)), device],
                       bench.left() - 5, f"{bench.folder}/warm.err", out)
    found = [json.loads(line) for line in open(out) if line.endswith("}\n")]
    names = {row["id"] for row in found if "why" not in row}
    bench.compiled += [row["task"] for row in rows if row["id"] in names]
    print(f"  torch.compile: {len(names)} of {len(rows)} tasks in {time.time() - begin:.0f} s (exit {rc})")
    reasons([(row["why"][:140], row["id"]) for row in found if "why" in row], 4)
    if not found:
        print("  " + open(f"{bench.folder}/warm.err", errors="replace").read()[-300:])
    keep_compiled(bench)


def keep_compiled(bench):
    """The cache as one file: what earlier calls compiled can be carried to a later one."""
    folder, path = pathlib.Path(bench.folder) / "inductor", bench.out / "inductor.tgz"
    for parts in (["."], ["fxgraph", "aotautograd"]):       # the graphs alone hold their kernels too
        with tarfile.open(path, "w:gz", compresslevel=6) as tar:
            tar.add(bench.compiled_list(), "compiled.json")
            for part in parts:
                if (folder / part).exists():
                    tar.add(folder / part, part)
        print(f"  {path.name}: {path.stat().st_size / (1 << 20):.1f} MiB")
        if path.stat().st_size <= INDUCTOR_MOST:
            return


def counters(bench):
    """Reads the profiler's counters of kernels whose traffic is known: inputs and results, once each."""
    rows = timed_rows(bench)[:10]
    verdicts, took = bench.judge("counters", [kernel("plain"), *rows], "--counters", "--trials", 10)
    read = {n: v for n, v in verdicts.items() if bench.gpu_of(v).get("counters")}
    print(f"  counters of {len(read)} of {len(verdicts)} candidates in {took:.0f} s")
    for name, v in read.items():
        g = v["gpu"]
        print(f"    {name}: {json.dumps(g['counters'])}; {g['time']['seconds'] * 1e6:.1f} us, memory's floor {g['floor_seconds'] * 1e6:.1f} us")
    reasons([(bench.gpu_of(v).get("counters_note") or v["message"] or "?", n) for n, v in verdicts.items() if n not in read], 5)


def rl(bench):
    seconds = int(bench.left())
    options = ["--judge-device" if o == "--device" else o for o in map(str, bench.gpu)]
    short = ["--rl-steps", 2, "--tasks-held", 2, "--tasks", ROOT / "tasks/plain/test_level1.jsonl"] if bench.a.quick else []
    folder = bench.out / "rl"
    bench.call([sys.executable, ROOT / "bench/gpu_rl.py", bench.program, folder, "--seconds", seconds, *short, "--", *options, *bench.base],
               seconds + 20, f"{bench.folder}/rl.err", f"{bench.folder}/rl.out")
    for path in (f"{bench.folder}/rl.out", f"{bench.folder}/rl.err"):
        print("".join(f"  {line.rstrip()[:900]}\n" for line in open(path, errors="replace")), end="")
    for path in [*folder.rglob("*.safetensors"), *folder.rglob("run.db*")]:
        path.unlink()           # too large to bring back


def compiled_sample(bench, rows):
    """One row for each task whose baseline by torch.compile is measured: those that are compiled already, else a few."""
    first = {}
    for r in rows:
        first.setdefault(r["task"], r)
    known = [r for task, r in first.items() if task in set(bench.compiled)]
    return known or list(first.values())[:4 if bench.a.quick else 16]


def answer_rows(bench):
    """The rows of --answers whose inputs take at most 1 GiB: larger ones take a minute each. First an answer to each
    task, in random order, so that the time limit leaves a sample; then the other answers."""
    rows, seen, order = [r for r in bench.rows if r["kind"] == "answer"], collections.Counter(), []
    for r in rows:
        if 0 <= bench.bytes_of(r) <= 1 << 30:
            order.append((seen[r["task"]], hash_of(r["task"]), r))
            seen[r["task"]] += 1
    print(f"  {len(order)} of {len(rows)} answers have inputs of at most 1 GiB")
    return [r for *_, r in sorted(order, key=lambda x: x[:2])]


def smoke(bench):
    rows = [r for r in bench.rows if r["kind"] == "honest" and r["track"] == "strict"]
    rows = [kernel("plain")] + [next(r for r in rows if word in r["candidate"]) for word in ("tl.dot(", "@triton.autotune")]
    verdicts, took = bench.judge("smoke", rows, "--baselines", "eager,tf32,compile")
    for name, v in verdicts.items():
        g = bench.gpu_of(v)
        print(f"  {name}: {v['verdict']} {v.get('reason')} speedup {v.get('speedup')}; gpu {json.dumps(g)[:420]} {(v.get('message') or '')[:300]}")
    print(f"  {took:.1f} s")


def table(title, pairs):
    """A 2 x 2 table of pairs (row, column) of booleans."""
    n = collections.Counter(pairs)
    print(f"  {title:44} both right {n[True, True]:5}   judge only {n[True, False]:4}   "
          f"truth only {n[False, True]:4}   both wrong {n[False, False]:5}")


def reasons(rows, limit):
    n = collections.Counter(key for key, _ in rows)
    for key, count in n.most_common(limit):
        names = [name for k, name in rows if k == key][:3]
        print(f"    {count:4} {key[:150]}: {' '.join(names)[:150]}")


def cpu_says(v):
    """The CPU judge's part of a verdict: only correct candidates reach the GPU."""
    return v["correct"] or (v["message"] or "").startswith(("on the GPU", "Triton does not compile"))


def agree(bench, track, rows):
    step = f"agreement {track}"
    gpu, took_gpu = bench.judge(f"gpu-{track}", rows, "--track", track, "--warmups", 0, "--trials", 0, share=0.55)
    ran = [v for v in gpu.values() if bench.gpu_of(v).get("ran")]
    print(f"  {len(rows)} candidates, {len(gpu)} verdicts, {len(ran)} ran on the GPU; {rate(bench, gpu, took_gpu)}")
    both = [r for r in rows if r["id"] in gpu]
    table("CPU judge (judge) and GPU judge (truth)", [(cpu_says(gpu[r["id"]]), gpu[r["id"]]["correct"]) for r in both])
    bad = [(f"{gpu[r['id']]['stage']} {gpu[r['id']]['reason']}: {gpu[r['id']]['message'][:140]}", r["id"]) for r in both
           if cpu_says(gpu[r["id"]]) and not gpu[r["id"]]["correct"]]
    reasons(bad, 10)
    bench.disagree(step, bad)
    bench.agreed.append((step, len(gpu), sum(cpu_says(v) for v in gpu.values()), len(ran), sum(v["correct"] for v in ran)))
    idle = [(bench.note(gpu[r["id"]]), r["id"]) for r in both if gpu[r["id"]]["correct"] and not bench.gpu_of(gpu[r["id"]]).get("ran")]
    print(f"  correct, but not run on the GPU: {len(idle)}")
    reasons(idle, 6)
    bench.disagree(step + ", not run", idle)
    return gpu


def rate(bench, verdicts, took):
    """Candidates a second with and without the start of the processes."""
    after = max(took - bench.started, 1e-3)
    return f"{len(verdicts) / took:.1f}/s in {took:.0f} s, {len(verdicts) / after:.1f}/s after {bench.started:.0f} s to the first verdict"


def run_truth(bench, track, rows, gpu):
    """Runs candidates by Python, without cheats, which may attack the process that runs them. Those that the
    CPU judge finds correct come first."""
    workers = min(12, max(2, (os.cpu_count() or 2) * 3 // 4))
    rows = [r for r in rows if r["kind"] != "cheat" and r["id"] in gpu]
    rows.sort(key=lambda r: (not cpu_says(gpu[r["id"]]), gpu[r["id"]]["correct"], hash_of(r["id"])))
    return [*bench.truth(f"truth-{track}", rows, "--workers", workers), workers]


def against_truth(bench, track, rows, gpu, truth, took, workers):
    print(f"  run by Python: {len(truth)} in {took:.0f} s, {len(truth) / took:.1f}/s with {workers} processes")
    for kind in ("honest", "control", "mutant"):
        known = [r for r in rows if r["kind"] == kind and r["id"] in gpu and truth.get(r["id"], {}).get("truth") in ("pass", "fail")]
        table(f"{kind}: judge with GPU, and run by Python", [(gpu[r["id"]]["correct"], truth[r["id"]]["truth"] == "pass") for r in known])
        bad = [(("accepted, wrong: " + truth[r["id"]]["why"][:100] if gpu[r["id"]]["correct"] else
                 f"refused, right: {gpu[r['id']]['stage']} {gpu[r['id']]['reason']}"), r["id"]) for r in known
               if gpu[r["id"]]["correct"] != (truth[r["id"]]["truth"] == "pass")]
        reasons(bad, 5)
        bench.disagree(f"{track} {kind} against Python", bad)


def agreement(bench, track="strict"):
    rows = [r for r in bench.rows if r.get("track") == track]
    order = {task: i for i, task in enumerate(sorted({r["task"] for r in rows}, key=hash_of))}
    # Large tasks last; else at random, so that the time limit leaves a sample.
    rows.sort(key=lambda r: (bench.bytes_of(r) > 16 << 20, bench.bytes_of(r) > 256 << 20, order[r["task"]], r["kind"]))
    if bench.a.quick:
        rows = rows[::max(1, len(rows) // 60)]
    gpu = agree(bench, track, rows)
    if not gpu:         # Python's results can be held against the CPU judge alone
        gpu, _ = bench.judge(f"cpu-{track}", rows, "--track", track, gpu=False, share=0.3)
    cheats = [r for r in rows if r["kind"] == "cheat" and r["id"] in gpu]
    print(f"  cheats: {len(cheats)}, accepted: {[r['id'] for r in cheats if gpu[r['id']]['correct']]}")
    truth, *how = run_truth(bench, track, rows, gpu) if bench.can_run_python() else ({}, 0, 0)
    bench.remember(track, rows, gpu, lambda r: False if r["kind"] == "cheat" else
                   {"pass": True, "fail": False}.get(truth.get(r["id"], {}).get("truth")))
    if truth:
        against_truth(bench, track, rows, gpu, truth, *how)


def hybrid(bench):
    agreement(bench, "hybrid")


REPEATS = 5
PLANTED = {"plain": 1000, "slow_3": 1030}


def timed_rows(bench):
    """The kernels whose variation is measured."""
    kernels = [r for r in bench.rows if r["kind"] == "honest" and r["track"] == "strict"]
    kernels = [r for r in kernels if 0 <= bench.bytes_of(r) <= 64 << 20]
    return kernels[::max(1, len(kernels) // 50)][:10 if bench.a.quick else 50]


def timed(bench):
    """Repeats are candidates of their own, which differ by a comment: each is loaded and measured anew."""
    bench.kernels = kernels = timed_rows(bench)
    own = [kernel(name, "pass" if bench.a.standin else CHAIN.replace("STEPS", str(n))) for name, n in PLANTED.items()]
    kernels.sort(key=lambda r: r["task"])           # a task is prepared once for all that share it
    rows = [(r, i) for i in range(REPEATS) for r in own] + [(r, i) for r in kernels for i in range(REPEATS)]
    rows = [{**r, "id": f"{r['id']}#{i}", "candidate": r["candidate"] + f"\n# {i}\n"} for r, i in rows]
    verdicts, took = bench.judge("timed", rows, share=0.8)
    times = collections.defaultdict(list)
    for name, v in verdicts.items():
        if bench.gpu_of(v).get("time"):
            times[name.rpartition("#")[0]].append(v["gpu"])
    report_planted(times.pop("plain", []), times.pop("slow_3", []))
    bench.times = times
    bench.timed_rate = rate(bench, verdicts, took)
    report_variation(times)
    print(f"  throughput, timed: {bench.timed_rate}")
    if not bench.can_run_python():
        return
    loop, _ = bench.truth("naive", kernels, "--workers", 1, "--naive", 5)
    plain = [statistics.stdev(v["naive"]) / statistics.mean(v["naive"]) for v in loop.values() if v.get("naive")]
    ratio = [statistics.mean(v["naive"]) * 1e-3 / statistics.mean(g["time"]["seconds"] for g in times[n])
             for n, v in loop.items() if v.get("naive") and times.get(n)]
    if plain:
        print(f"  a plain loop over {len(plain)} kernels x 5: median {100 * statistics.median(plain):.2f} %, worst {100 * max(plain):.2f} %; "
              f"its time over ours: median {statistics.median(ratio):.2f}")


def report_variation(times):
    cv = {name: statistics.stdev(g["time"]["seconds"] for g in v) / statistics.mean(g["time"]["seconds"] for g in v)
          for name, v in times.items() if len(v) > 1}
    if not cv:
        print("  nothing was timed")
        return
    order = sorted(cv.values())
    pairs = [(a["time"], b["time"]) for v in times.values() for a, b in zip(v, v[1:])]
    apart = sum(a["low"] > b["high"] or b["low"] > a["high"] for a, b in pairs)
    gaps = sorted(abs(a["seconds"] / b["seconds"] - 1.0) for a, b in pairs)
    print(f"  {len(cv)} kernels x {REPEATS}: coefficient of variation median {100 * statistics.median(order):.2f} %, 90th percentile "
          f"{100 * order[int(0.9 * len(order))]:.2f} %, worst {100 * order[-1]:.2f} % (aim 1 %): {max(cv, key=cv.get)}")
    print(f"  A/A: {apart} of {len(pairs)} intervals are apart; the means differ by {100 * statistics.median(gaps):.2f} % (median), {100 * gaps[-1]:.2f} % (most)")
    shares = sorted(g["dropped"] / max(1, g["samples"] + g["dropped"]) for v in times.values() for g in v)
    print(f"  samples dropped for a low clock: {100 * statistics.mean(shares):.1f} %; kernels with results that differ: "
          f"{sum(any(g.get('differing') for g in v) for v in times.values())}")


def report_planted(plain, slow):
    pairs = [(a["time"], b["time"]) for a, b in zip(plain, slow)]
    print(f"  3 % more work: seen {sum(b['low'] > a['high'] for a, b in pairs)} of {len(pairs)}; "
          f"measured {[round(b['seconds'] / a['seconds'], 4) for a, b in pairs]}")


KERNEL = '''import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def NAME(x, y, out, n, LOOPS: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
    BODY
    tl.store(out + i, v, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = torch.empty_like(a)
        NAME[(triton.cdiv(out.numel(), 256),)](a, b, out, out.numel(), 1, B=256)
        return out
'''
TASK = '''import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return a + b


def get_inputs():
    return [torch.randn(64, 4096), torch.randn(64, 4096)]


def get_init_inputs():
    return []
'''
# A loop of dependent operations: its length is the kernel's time.
CHAIN = """w = v * 0.0
    for _ in range(STEPS):
        w = tl.sin(w)
    v = v + w"""


def kernel(name, body="pass"):
    return {"id": name, "kind": "own", "task": TASK, "candidate": KERNEL.replace("NAME", name).replace("BODY", body)}


# A compiler for the judge that gives kernels named fault_* another body, with the real Triton. The
# CPU judge sees a correct kernel.
FAULTY = '''#!%s
import sys
source = open(%r).read()
space = {"__name__": "worker"}
exec(compile(source, "compile_worker.py", "exec"), space)
BODIES = {
    "fault_hang": "    t = tl.sum(tl.load(x + i, mask=i < n, volatile=True) * 0.0, 0)\\n    while t < 1.0:\\n"
                  "        t = tl.sum(tl.load(x + i, mask=i < n, volatile=True) * 0.0, 0)\\n    tl.store(out + i, v + t, mask=i < n)\\n",
    "fault_illegal": "    tl.store(out + i + (1 << 40), v, mask=i < n)\\n",
    "fault_red_zone": "    tl.store(out + i - 1, v, mask=i < n)\\n",
    "fault_trap": "    v = tl.inline_asm_elementwise('trap; mov.b32 $0, $1;', '=r,r', [v], dtype=tl.float32, is_pure=False, pack=1)\\n"
                  "    tl.store(out + i, v, mask=i < n)\\n",
}
plain = space["compile_request"]


def compile_request(request, language, capability):
    function = request["functions"][0]
    body = BODIES.get(function["name"])
    if body:
        at = function["source"].rindex("    tl.store")
        function["source"] = function["source"][:at] + body
    meta, code = plain(request, language, capability)
    return {**meta, "scratch_bytes": 1 << 30} if function["name"] == "fault_memory" else meta, code


space["compile_request"] = compile_request
space["main"](sys.argv[1:])
'''


def faults(bench):
    bad = {40: "fault_hang", 70: "fault_illegal", 100: "fault_die" if bench.a.standin else "fault_trap", 120: "fault_red_zone",
           150: "fault_memory"}
    rows = []
    for i in range(200):
        row = kernel(bad.get(i, f"good_{i}"))
        rows.append({**row, "id": f"{row['id']}-{i}"})
    extra = []
    if not bench.a.standin:
        path = f"{bench.folder}/faulty"
        with open(path, "w") as f:
            f.write(FAULTY % (bench.python, str(ROOT / "python/tritonrl/compile_worker.py")))
        os.chmod(path, 0o755)
        extra = ["--gpu-compiler", path]
    verdicts, took = bench.judge("faults", rows, "--warmups", 0, "--trials", 2, "--gpu-timeout", 4, "--gpu-torch", "none", *extra)
    print(f"  {len(verdicts)} verdicts for 200 candidates in {took:.0f} s")
    for name, v in verdicts.items():
        if not v["correct"] or not bench.gpu_of(v).get("ran"):
            print(f"    {name}: {v['stage']} {v['reason']}: {(v['message'] or '')[:130]} {bench.note(v) if v['correct'] else ''}")


def rank(a):
    order, out = sorted(range(len(a)), key=a.__getitem__), [0.0] * len(a)
    for k, i in enumerate(order):
        out[i] = float(k)
    return out


def hash_of(text):
    return zlib.crc32(text.encode())


def correlation(pairs):
    if len(pairs) < 3:
        return 0.0
    x, y = rank([a for a, _ in pairs]), rank([b for _, b in pairs])
    return statistics.correlation(x, y)


def sizes(bench, rows):
    tasks = sorted({r["task"] for r in rows})
    path = f"{bench.folder}/sizes.py"
    pathlib.Path(path).write_text(SIZES)
    with open(f"{bench.folder}/sizes.in", "w") as f:
        f.writelines(json.dumps(t) + "\n" for t in tasks)
    with open(f"{bench.folder}/sizes.in") as given, open(f"{bench.folder}/sizes.out", "w") as out:
        try:
            subprocess.run([bench.python, path], stdin=given, stdout=out, stderr=subprocess.DEVNULL, timeout=max(1, min(45, bench.left())))
        except (OSError, subprocess.TimeoutExpired):
            print("  sizes of tasks: not all are known")
    found = dict(zip(tasks, map(int, open(f"{bench.folder}/sizes.out").read().split())))
    print(f"  inputs of {len(found)} tasks: {sum(v >= 0 for v in found.values())} sizes known, {sum(v > 1 << 30 for v in found.values())} above 1 GiB")
    return found


def labelled_check(bench):
    """All rows with labels, without timing: large tasks last, else in random order."""
    rows = [r for r in bench.rows if r["kind"] == "written"]
    rows.sort(key=lambda r: (not 0 <= bench.bytes_of(r) <= 1 << 30, bench.bytes_of(r) > 4 << 30, hash_of(r["task"])))
    report_labelled(bench, "labelled_check", rows, "--warmups", 0, "--trials", 0)


def labelled(bench):
    rows = [r for r in bench.rows if r["kind"] == "written"]
    good = [r for r in rows if (r.get("gpu") == "pass" or hash_of(r["id"]) % 6 == 0) and 0 <= bench.bytes_of(r) <= 1 << 30]
    good.sort(key=lambda r: (bench.bytes_of(r), r["task"]))
    print(f"  {len(good)} of {len(rows)}: those that pass by their label and a sixth of the others, with inputs of at most 1 GiB, smallest first")
    report_labelled(bench, "labelled", good, "--warmups", 5, "--trials", 20, "--baselines", "eager,tf32")


def report_labelled(bench, step, good, *options):
    if not good:
        print("  no --candidates")
        return
    if bench.a.quick:
        good = good[::max(1, len(good) // 20)]
    gpu, took = bench.judge(f"gpu-{step}", good, "--track", "hybrid", "--precision", "tf32", *options)
    ran = [r for r in good if bench.gpu_of(gpu.get(r["id"], {})).get("ran")]
    print(f"  {len(gpu)} verdicts, {len(ran)} ran; {rate(bench, gpu, took)}")
    right = [gpu[r["id"]] for r in ran]
    bench.agreed.append((step, len(gpu), sum(cpu_says(v) for v in gpu.values()), len(ran), sum(v["correct"] for v in right)))
    bench.remember(step, good, gpu, lambda r: {"pass": True, "fail": False}.get(r.get("gpu")))
    known = [r for r in good if r["id"] in gpu and r.get("gpu") in ("pass", "fail")]
    table("CPU judge, and the labels", [(cpu_says(gpu[r["id"]]), r["gpu"] == "pass") for r in known])
    names = {r["id"] for r in ran}
    bench.disagree(f"{step}, judge and label", [(f"label {r['gpu']}, CPU {cpu_says(gpu[r['id']])}, GPU {gpu[r['id']]['correct']}, ran "
                   f"{r['id'] in names}: {gpu[r['id']]['reason']} {(gpu[r['id']]['message'] or '')[:160]}", r["id"]) for r in known
                   if len({r["gpu"] == "pass", cpu_says(gpu[r["id"]]), gpu[r["id"]]["correct"]}) > 1])
    known = [r for r in known if r["id"] in names or not gpu[r["id"]]["correct"]]
    table("GPU judge, and the labels", [(gpu[r["id"]]["correct"], r["gpu"] == "pass") for r in known])
    reasons([(f"{gpu[r['id']]['stage']} {gpu[r['id']]['reason']}: {(gpu[r['id']]['message'] or '')[:140]}", r["id"]) for r in good
             if r["id"] in gpu and not gpu[r["id"]]["correct"] and cpu_says(gpu[r["id"]])], 10)
    reasons([(bench.note(gpu[r["id"]]), r["id"]) for r in good if r["id"] in gpu and gpu[r["id"]]["correct"] and r["id"] not in names], 6)
    timed = [r for r in ran if gpu[r["id"]]["gpu"].get("time") and gpu[r["id"]]["correct"]]
    ours = [(gpu[r["id"]]["gpu"]["time"]["seconds"] * 1e3, r["gpu_ms"]) for r in timed if r.get("gpu_ms")]
    if ours:
        ratios = sorted(a / b for a, b in ours)
        print(f"  our milliseconds over the labels': median {statistics.median(ratios):.2f}, from {ratios[0]:.2f} to {ratios[-1]:.2f}, rank correlation {correlation(ours):.3f} over {len(ours)}")
    # With --precision tf32 the estimate is against the reference in tf32.
    pairs = [(v["estimated_speedup"], v["gpu"]["baselines"]["tf32"]["seconds"] / v["gpu"]["time"]["seconds"]) for v in (gpu[r["id"]] for r in timed)
             if v.get("estimated_speedup") and v["gpu"]["baselines"].get("tf32")]
    if pairs:
        print(f"  estimate and measured speed-up, against tf32: rank correlation {correlation(pairs):.2f} over {len(pairs)}; fast or slow right {sum((a >= 1) == (b >= 1) for a, b in pairs)}")


def solved(bench, kind="solved"):
    """Programs of the solver or answers of a model: checked and timed; then those that are right, one for each task, with
    torch.compile as a baseline."""
    rows = [r for r in bench.rows if r["kind"] == kind] if kind == "solved" else answer_rows(bench)
    if not rows:
        print(f"  no --{kind}")
        return
    print(f"  {len(rows)} of {sum(r['kind'] == kind for r in bench.rows)} rows")
    if bench.a.quick:
        rows = rows[:20]
    gpu, took = bench.judge(f"{kind}", rows, "--baselines", "eager,tf32", share=0.75)
    print(f"  {len(gpu)} of {len(rows)} judged and timed: {rate(bench, gpu, took)}")
    report_solved(bench, kind, gpu)
    report_levels(bench, rows, gpu, "eager,tf32")
    right = [r for r in rows if bench.gpu_of(gpu.get(r["id"], {})).get("time") and gpu[r["id"]]["correct"]]
    again = compiled_sample(bench, sorted(right, key=lambda r: gpu[r["id"]]["gpu"]["time"]["seconds"]))
    again.sort(key=lambda r: hash_of(r["task"]))
    if again:
        print(f"  with torch.compile: the fastest right program of each of {len(again)} tasks")
        report_levels(bench, again, bench.judge(f"{kind}-compile", again, "--baselines", "eager,tf32,compile")[0], "eager,tf32,compile")


def answers(bench):
    """Answers of a model, as `solved`."""
    solved(bench, "answer")


def level_of(row):
    found = re.search(r"level_?(\d)|l(\d)-", row["id"])
    return f"level {found[1] or found[2]}" if found else "other tasks"


def report_levels(bench, rows, gpu, baselines):
    levels = sorted({level_of(r) for r in rows})
    for level in levels if len(levels) > 1 else []:
        part = {r["id"]: gpu[r["id"]] for r in rows if level_of(r) == level and r["id"] in gpu}
        print(f"   {level}: {len(part)} judged, {sum(v['correct'] for v in part.values())} correct")
        report_fast(bench, part, baselines)
    if len(levels) > 1:
        print("   all")
    report_fast(bench, gpu, baselines)


def report_solved(bench, kind, verdicts):
    if not verdicts:
        return
    ran = [v for v in verdicts.values() if bench.gpu_of(v).get("ran")]
    right = sum(v["correct"] for v in ran)
    cpu = sum(cpu_says(v) for v in verdicts.values())
    print(f"  {kind}: {len(verdicts)} checked; CPU judge: {cpu} correct; on the GPU {len(ran)} ran, {right} right, {len(ran) - right} wrong, "
          f"{sum(v['correct'] for v in verdicts.values()) - right} not run")
    bench.agreed.append((kind, len(verdicts), cpu, len(ran), right))
    bad = [(f"{v['stage']} {v['reason']}: {(v['message'] or '')[:140]}", name) for name, v in verdicts.items() if cpu_says(v) and not v["correct"]]
    idle = [(bench.note(v), name) for name, v in verdicts.items() if v["correct"] and not bench.gpu_of(v).get("ran")]
    reasons(bad, 6)
    reasons(idle, 6)
    bench.disagree(f"{kind}, refused on the GPU", bad)
    bench.disagree(f"{kind}, not run", idle)


def report_fast(bench, gpu, baselines):
    """Measured fast_p: the share of the programs that are faster than a baseline by the factor p, of those that
    were timed and of those that were judged."""
    times = [(v, bench.gpu_of(v)) for v in gpu.values() if v["correct"] and bench.gpu_of(v).get("time")]
    for baseline in baselines.split(","):
        ratio = [g["baselines"][baseline]["seconds"] / g["time"]["seconds"] for _, g in times if g["baselines"].get(baseline)]
        if ratio:
            fast = [(p, sum(x > p for x in ratio)) for p in (1, 1.2, 2)]
            print(f"    against {baseline:8}: {len(ratio):4} of {len(gpu)} timed, median {statistics.median(ratio):.2f}, of the timed " +
                  ", ".join(f"fast_{p:g} {n / len(ratio):.2f}" for p, n in fast) + "; of all " +
                  ", ".join(f"{n / len(gpu):.2f}" for p, n in fast))
    pairs = [(v["estimated_speedup"], g["baselines"]["eager"]["seconds"] / g["time"]["seconds"]) for v, g in times
             if v.get("estimated_speedup") and g["baselines"].get("eager")]
    if len(pairs) > 2:
        print(f"    estimate and measured speed-up against eager: rank correlation {correlation(pairs):.2f} over {len(pairs)}, "
              f"fast or slow right {sum((a >= 1) == (b >= 1) for a, b in pairs)}")


def peer(bench):
    if not bench.a.kernelbench or not bench.can_run_python():
        print("  no --kernelbench")
        return
    rows = getattr(bench, "kernels", None) or timed_rows(bench)
    rows = sorted(rows, key=lambda r: hash_of(r["id"]))
    found, took = bench.truth("peer", rows, script=("bench/gpu_peer.py", os.path.abspath(bench.a.kernelbench)))
    each = [v["seconds"] for v in found.values() if v.get("seconds")]
    times = getattr(bench, "times", {})
    print(f"  KernelBench's evaluation: {len(found)} candidates in {took:.0f} s, {len(found) / took:.2f}/s; "
          f"{statistics.median(each) if each else 0:.2f} s each (median, process included); ours, the same kernels: {getattr(bench, 'timed_rate', '?')}")
    print(f"  it finds {sum(v['correct'] for v in found.values())} of {len(found)} correct; ours timed {sum(n in times for n in found)} of them")
    ratio = sorted(v["ms"] * 1e-3 / statistics.mean(g["time"]["seconds"] for g in times[n]) for n, v in found.items()
                   if v["correct"] and v.get("ms", 0) > 0 and times.get(n))
    if ratio:
        print(f"  its time over ours: median {statistics.median(ratio):.2f}, from {ratio[0]:.2f} to {ratio[-1]:.2f} over {len(ratio)}")
    reasons([(v["why"][:140], n) for n, v in found.items() if not v["correct"]], 5)


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
