"""The program under test: its calls, its verdicts, and the time that a step has."""
import gzip
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tarfile
import threading
import time
import zipfile

from gpu_steps.rows import ROOT, hash_of
from gpu_steps.tables import cpu_says

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
