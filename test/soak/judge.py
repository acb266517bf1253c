#!/usr/bin/env python3
"""judge.py COUNT: many candidates, crashers, hangs and memory hogs among them, through `verify
--jsonl`, once undisturbed and once while its workers and itself are killed at random and it is
started again. No verdict is lost or another, no process is left over. One worker then judges a
fifth of them alone: its memory at rest does not grow."""
import itertools
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = os.environ.get("TRITONRL", str(Path(__file__).resolve().parents[2] / "tritonrl"))
SEED = int(os.environ.get("SOAK_SEED", "1"))
TIMEOUT = 3.0       # seconds of processor time a candidate may take; a hang takes twice that
TASKS = 8
GROWTH = 1 << 20    # bytes that a process at rest may grow by between the second and the last fifth
WORKER_MOST = 512 << 20     # of a worker with a hog of --memory-mb 128 in it
PARENT_MOST = 64 << 20

HEAD = "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n"
DECOY = "@triton.jit\ndef k(x, BLOCK: tl.constexpr):\n    tl.store(x + tl.arange(0, BLOCK), 0.0)\n"


def with_body(solution, body):
    """The solution with something else at the start of forward."""
    return re.sub(r"(    def forward\(.*\):\n)", lambda m: m.group(1) + body, solution, count=1)


# Weight, name, how the candidate is made from a correct one.
KINDS = [
    (200, "syntax", lambda s, r: s[: r.randrange(40, len(s) - 20)] + "\n)(\n"),
    (120, "text", lambda s, r: "Here is the kernel you asked for: it is fast and correct.\n" * r.randint(1, 5)),
    (120, "import", lambda s, r: "import os\n" + s),
    (80, "name", lambda s, r: s.replace("tl.load", "tl.lode", 1)),
    (80, "no model", lambda s, r: s.replace("ModelNew", "Modell")),
    (50, "correct", lambda s, r: s),
    (10, "comment", lambda s, r: s.replace("\n\n", f"\n\n# version {r.random()}\n", 1)),
    (40, "unmasked", lambda s, r: re.sub(r", mask=[^,()]*(, other=0\.0)?\)", ")", s)),
    (30, "no work", lambda s, r: re.sub(r"\n( *)tl\.store\(.*", r"\n\1pass", s)),
    (0.15, "host loop", lambda s, r: with_body(s, "        while True:\n            pass\n")),
    (4, "recursion", lambda s, r: with_body(s, "        f = lambda g: g(g)\n        f(f)\n")),
    (0.15, "kernel loop", lambda s, r: s.replace("tl.program_id(0)", "tl.program_id(0)\n    while tl.program_id(0) >= 0:\n        pass\n    zz = 0", 1)),
    (4, "huge tensor", lambda s, r: with_body(s, "        torch.empty(1 << 45)\n")),
    (0.15, "growing list", lambda s, r: with_body(s, "        a = [1] * 1000\n        while True:\n            a = a + a\n")),
    (0.15, "growing text", lambda s, r: with_body(s, "        a = 'x' * 1000\n        while True:\n            a = a + a\n")),
    (0.15, "many tensors", lambda s, r: with_body(s, "        a = []\n        while True:\n            a.append(torch.zeros(1 << 21))\n")),
    (4, "deep", lambda s, r: HEAD + "x = " + "(" * 60000 + ")" * 60000),
    (4, "deep lists", lambda s, r: HEAD + "x = " + "[" * 3000 + "]" * 3000),
    (4, "large", lambda s, r: s + "# " + "y" * 300000),
    (4, "zero bytes", lambda s, r: s[:200] + "\0" * 50 + s[200:]),
    (0.15, "big number", lambda s, r: with_body(s, "        a = 7 ** 7 ** 7 ** 7\n")),
    (0.03, "hang", lambda s, r: with_body(s, "        for i in range(1 << 30):\n            torch.zeros(1 << 24)\n")),
]


def make(path, count):
    """Writes `count` candidates."""
    rng = random.Random(SEED)
    rows = path.with_suffix(".tasks")
    subprocess.run([PROGRAM, "tasks", "--level", "1,2", "--count", str(TASKS), "--seed", str(SEED), "--out", rows], check=True, capture_output=True)
    tasks = [json.loads(line) for line in rows.read_text().splitlines()]
    weights = [k[0] for k in KINDS]
    made = {}
    sure = dict(zip(rng.sample(range(count), 2 * len(KINDS)), [*range(len(KINDS))] * 2))      # two of each kind
    with path.open("w") as f:
        for i in range(count):
            _, kind, change = KINDS[sure[i]] if i in sure else rng.choices(KINDS, weights)[0]
            task = rng.choice(tasks)
            source = change(task["solution"], rng) + f"\n# {i}\n"
            made[kind] = made.get(kind, 0) + 1
            f.write(json.dumps({"id": f"{i} {kind}", "task": task["task"], "candidate": source}) + "\n")
    return made


def session(sid):
    """Pids of a session, and their resident bytes, from /proc."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            text = Path(f"/proc/{entry}/stat").read_text()
        except OSError:
            continue
        fields = text[text.rindex(")") + 2:].split()
        if int(fields[3]) == sid and fields[0] != "Z":
            found[int(entry)] = int(fields[21]) * 4096
    return found


def command(candidates, out, *more):
    return [PROGRAM, "verify", "--jsonl", candidates, "--out", out, "--timeout", str(TIMEOUT), "--memory-mb", "128", "--quiet", *more]


def lines_of(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def start(args, **env):
    return subprocess.Popen(args, start_new_session=True, env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def gone(sid):
    """Nothing of the session is left within three seconds."""
    end = time.monotonic() + 3
    while session(sid):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def undisturbed(candidates, out, count):
    """Judges everything in peace; gives seconds and (share done, bytes of parent, of the largest worker)."""
    begin, p, memory = time.monotonic(), start(command(candidates, out)), []
    while p.poll() is None:
        time.sleep(0.25)
        now = session(p.pid)
        workers = sorted(v for k, v in now.items() if k != p.pid)
        if p.pid in now and workers:
            memory.append((lines_of(out) / count, now[p.pid], workers[-1]))
    if p.returncode not in (0, 1):
        raise SystemExit(f"judge: undisturbed run: exit {p.returncode}: {p.stderr.read()[-500:]}")
    if not gone(p.pid):
        raise SystemExit("judge: undisturbed run: processes left over")
    return time.monotonic() - begin, memory


def disturbed(candidates, out, cache, count, parents):
    """The same with kills; gives how many workers and parents were killed."""
    rng, workers, killed = random.Random(SEED + 1), 0, 0
    targets = sorted(rng.randrange(count) for _ in range(parents))
    while True:
        p = start(command(candidates, out, "--cache", str(cache)))
        due = time.monotonic() + rng.uniform(0.3, 6.0)
        while p.poll() is None:
            time.sleep(0.1)
            if targets and lines_of(out) >= targets[0]:
                while targets and lines_of(out) >= targets[0]:
                    targets.pop(0)
                os.kill(p.pid, signal.SIGKILL)
                killed += 1
                p.wait()
                break
            now = sorted(k for k in session(p.pid) if k != p.pid) if time.monotonic() > due else []
            if len(now) > 1:
                due = time.monotonic() + rng.uniform(0.3, 6.0)
                try:
                    # The first starts the others, which end with it.
                    os.kill(rng.choice(now[1:]) if rng.random() < 0.9 else now[0], signal.SIGKILL)
                    workers += 1
                except ProcessLookupError:
                    pass
        if not gone(p.pid):
            raise SystemExit(f"judge: {len(session(p.pid))} processes outlive the program")
        if p.returncode in (0, 1):
            return workers, killed
        if p.returncode != -signal.SIGKILL:
            raise SystemExit(f"judge: disturbed run: exit {p.returncode}: {p.stderr.read()[-500:]}")


def timeless(line):
    return re.sub(r'"ms":[-0-9.e+]*', '"ms":0', line)


def compare(candidates, a, b, count):
    """Every candidate has its verdict, in order, the same in both runs."""
    bad = 0
    with candidates.open() as c, a.open() as fa, b.open() as fb:
        for i, (row, x, y) in enumerate(zip(c, fa, fb, strict=True)):
            if json.loads(x)["id"] != json.loads(row)["id"]:
                raise SystemExit(f"judge: line {i + 1} is about another candidate")
            if timeless(x) != timeless(y):
                bad += 1
                if bad <= 5:
                    print(f"judge: line {i + 1} differs:\n  {x[:300]}\n  {y[:300]}")
    if bad or i + 1 != count:
        raise SystemExit(f"judge: {bad} of {i + 1} verdicts differ, {count} asked for")


def reasons(path):
    table = {}
    for line in path.open():
        v = json.loads(line)
        key = (v["id"].split(" ", 1)[1], v["reason"])
        table[key] = table.get(key, 0) + 1
    return table


def largest(memory):
    """A hog stays near its limit; the parent holds a window of candidates, whatever they hold up."""
    parent, worker = (max((m[k] for m in memory), default=0) for k in (1, 2))
    if worker > WORKER_MOST or parent > PARENT_MOST:
        raise SystemExit(f"judge: parent up to {parent >> 20} MB, a worker up to {worker >> 20} MB")
    return f"parent at most {parent >> 20} MB, a worker {worker >> 20} MB"


def own(pid):
    """Bytes that are a process's own: pages of files come and go with what else the machine does."""
    try:
        return int(re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) << 10
    except (OSError, TypeError):
        return 0


def steady(candidates, verdicts, tmp, count, **env):
    """One worker judges everything of the first `count` that does not cost it its life, and the
    memory of both processes at rest is watched. Hogs reach the limit as they should, so single
    samples and the largest say nothing; the median over a stretch of candidates does. A worker of
    the main run lives too short for a small leak to show, this one judges them all."""
    source, out = tmp / "steady.jsonl", tmp / "steady.out"
    out.unlink(missing_ok=True)
    n = 0
    with candidates.open() as c, verdicts.open() as v, source.open("w") as f:
        for row, verdict in zip(itertools.islice(c, count), v):
            if not json.loads(verdict)["reason"].startswith("worker_"):
                f.write(row)
                n += 1
    p, samples = start(command(source, out, "--workers", "1"), **env), []
    while p.poll() is None:
        time.sleep(0.02)
        workers = sorted(k for k in session(p.pid) if k != p.pid)      # the first starts the other
        if len(workers) == 2:
            samples.append((lines_of(out) / n, workers[1], own(workers[1]), own(p.pid)))
    if p.returncode not in (0, 1):
        raise SystemExit(f"judge: steady run: exit {p.returncode}: {p.stderr.read()[-500:]}")
    return n, samples


def check_steady(n, samples):
    """From a fifth of the way on, the worker is one and the same, and no median moves by more than GROWTH."""
    early = [m for m in samples if 0.2 < m[0] <= 0.4]
    late = [m for m in samples if 0.8 < m[0] < 1.0]
    if len(early) < 10 or len(late) < 10:
        return "too short to tell a leak"
    if len({m[1] for m in early + late}) > 1:
        raise SystemExit("judge: steady run: the worker was replaced")
    texts = []
    for name, k in (("worker", 2), ("parent", 3)):
        before, after = (statistics.median(m[k] for m in part) for part in (early, late))
        texts.append(f"{name} {before / 1e6:.1f} MB early, {after / 1e6:.1f} MB late, {(after - before) / (0.6 * n):+.0f} bytes a candidate")
        if after > before + GROWTH:
            raise SystemExit(f"judge: memory grows: {texts[-1]}")
    return "; ".join(texts)


def check_rule(candidates, verdicts, tmp):
    """A worker that is made to lose half a kilobyte a candidate must break the rule."""
    library = tmp / "leak.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library, Path(__file__).with_name("leak.c")], check=True)
    try:
        text = check_steady(*steady(candidates, verdicts, tmp, 10000, LD_PRELOAD=str(library)))
    except SystemExit as e:
        text = str(e)
        if "memory grows" in text:
            return text
    raise SystemExit(f"judge: a seeded leak is not seen: {text}")


def main():
    count = int(sys.argv[1])
    keep = os.environ.get("SOAK_KEEP")
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(keep or folder)
        tmp.mkdir(parents=True, exist_ok=True)
        candidates, calm, rough = tmp / "candidates.jsonl", tmp / "calm.jsonl", tmp / "rough.jsonl"
        for old in (calm, rough, tmp / "cache.db"):
            old.unlink(missing_ok=True)
        made = make(candidates, count)
        print(f"judge: {count} candidates: " + ", ".join(f"{v} {k}" for k, v in sorted(made.items(), key=lambda x: -x[1])), flush=True)
        seconds, memory = undisturbed(candidates, calm, count)
        print(f"judge: undisturbed: {seconds:.1f} s, {count / seconds:.0f} candidates/s; {largest(memory)}", flush=True)
        n, samples = steady(candidates, calm, tmp, max(count // 5, 10000))
        print(f"judge: one worker, {n} candidates: {check_steady(n, samples)}", flush=True)
        if n >= 9000:
            print(f"judge: the same with a seeded leak: {check_rule(candidates, calm, tmp)}", flush=True)
        begin = time.monotonic()
        workers, parents = disturbed(candidates, rough, tmp / "cache.db", count, max(3, min(100, count // 1000)))
        print(f"judge: disturbed: {time.monotonic() - begin:.1f} s, {workers} workers and {parents} times the program killed", flush=True)
        compare(candidates, calm, rough, count)
        for (kind, reason), n in sorted(reasons(calm).items()):
            print(f"judge:   {kind:14} {reason:20} {n}")
    print(f"judge: {count} verdicts, none lost, all the same; no process left over")


if __name__ == "__main__":
    main()
