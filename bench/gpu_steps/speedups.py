"""Steps about speed-ups against PyTorch: torch.compile's cache, solved tasks, answers of a model, training."""
import collections
import json
import os
import pathlib
import sys
import tarfile
import time

from gpu_steps.rows import ROOT, hash_of
from gpu_steps.tables import cpu_says, rate, reasons, report_levels

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
