#!/usr/bin/env python3
"""How much of public PyTorch code the host engine runs.

    cover_host.py make OUT FOLDER...   extracts the module classes of the folders (a repository
                                       each, not part of this tree), guesses arguments and inputs
                                       until PyTorch runs them, and keeps them as tasks in OUT
    cover_host.py run OUT [--build build/release] [--list STATUS]
                                       parses every class and runs every task in the host engine

Printed: the share of classes that parse; of the tasks that run in PyTorch the share that runs
here and agrees; what is missing, by frequency. Code of strangers is only run by `make`: its
imports are limited to libraries without files or network, in a process with limits."""
import collections
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
SEED, VARIANTS, SECONDS = 42, 4, 20
TOLERANCE = 1e-3            # of the scale of an output: same operations; the exact bounds are agree_host's
OUTPUT_MOST = 1 << 20       # elements kept of a task's outputs


# --- make -----------------------------------------------------------------------------------

def try_task(text):
    """The outputs of a task in PyTorch, or None."""
    import torch
    from _host_task import flatten

    space = {"__name__": "task"}
    try:
        exec(compile(text, "task", "exec"), space)
        torch.manual_seed(SEED)
        with torch.no_grad():
            model = space["Model"]().eval()
            torch.manual_seed(SEED)
            out = flatten(model(*space["get_inputs"]()), "output", {})
    except Exception:
        return None
    if not out or sum(t.numel() for t in out.values()) > OUTPUT_MOST or any(t.is_complex() or t.is_sparse for t in out.values()):
        return None
    return {k: v.detach().clone().contiguous() for k, v in out.items()}


def search(source, name):
    """The first guess that runs in PyTorch: (task, outputs)."""
    import _cover_guess as guess

    space = {"__name__": "task"}
    exec(compile(source, "task", "exec"), space)
    cls = space[name]
    for variant in range(VARIANTS):
        arguments = guess.constructor(cls, source, variant)
        probe = guess.task(source, name, arguments, "[]") + "m = Model()\n"
        try:
            exec(compile(probe, "task", "exec"), {"__name__": "task"})
        except Exception:
            continue
        for shape in guess.shapes(variant):
            text = guess.task(source, name, arguments, guess.inputs(cls, shape))
            out = try_task(text)
            if out:
                return text, out
    return None


def child(source, name, base):
    from safetensors.torch import save_file

    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
    with open(os.devnull, "w") as null:
        os.dup2(null.fileno(), 1)
        os.dup2(null.fileno(), 2)
    found = search(source, name)
    if found:
        save_file(found[1], base + ".safetensors")
        with open(base + ".py", "w") as f:
            f.write(found[0])


def in_child(source, name, base):
    """The search in a process of its own, for at most SECONDS."""
    pid = os.fork()
    if not pid:
        try:
            child(source, name, base)
        except BaseException:
            pass
        os._exit(0)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def make(out, folders):
    import torch

    torch.set_num_threads(1)
    from _cover_extract import classes

    os.makedirs(out + "/class", exist_ok=True)
    os.makedirs(out + "/task", exist_ok=True)
    seen = {f.split(".")[-2] for f in os.listdir(out + "/class")}
    for folder in folders:
        repo, n, ran = os.path.basename(folder.rstrip("/")), 0, 0
        for path, name, text in classes(folder):
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            label = f"{repo}.{name}.{digest}"
            if digest in seen:
                continue
            seen.add(digest)
            with open(f"{out}/class/{label}.py", "w") as f:
                f.write(f"# {path}\n{text}")
            in_child(text, name, f"{out}/task/{label}")
            n += 1
            ran += os.path.exists(f"{out}/task/{label}.py")
        print(f"{repo}: {n} classes, {ran} run in PyTorch under a guess", flush=True)


# --- run ------------------------------------------------------------------------------------

def is_defined(base):
    """Does PyTorch give the outputs again where uninitialised memory holds NaN? If not, the
    task has no one answer: it reads such memory, or numbers that are not torch's."""
    import torch
    from safetensors.torch import load_file

    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    with open(base + ".py") as f:
        out = try_task(f.read())
    kept = load_file(base + ".safetensors")
    return out is not None and all(k in out and torch.equal(out[k], t) for k, t in kept.items())


def compare(base, path):
    from agree_host import error_of
    from safetensors.torch import load_file

    want, got = load_file(base + ".safetensors"), load_file(path)
    for name, t in want.items():
        if name not in got:
            return f"differs: {name} is missing"
        if got[name].shape != t.shape or got[name].dtype != t.dtype:
            return f"differs: {name} is {tuple(got[name].shape)} {got[name].dtype}, not {tuple(t.shape)} {t.dtype}"
        error = error_of(got[name], t)
        if not error <= TOLERANCE:
            return f"differs: {name} by {error:.1e}"
    return "ok"


def run_one(build, base, scratch):
    """"ok", "differs: ..." or "reason: text"."""
    command = [build + "/tool/host_run", base + ".py", scratch, str(SEED), "memory=4096"]
    try:
        tool = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "timeout: over 120 s"
    if not tool.stdout.startswith("{"):
        return f"crash: exit {tool.returncode} {tool.stderr[-200:]}"
    result = json.loads(tool.stdout)
    return compare(base, scratch) if result["status"] == "ok" else f"{result['status']}: {result['text']} (line {result['line']})"


def parsed(build, out):
    files = sorted(os.listdir(out + "/class"))
    good = 0
    for i in range(0, len(files), 200):
        for f in files[i:i + 200]:
            good += subprocess.run([build + "/tool/py_dump", f"{out}/class/{f}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    return good, len(files)


def kind_of(text):
    """What is missing, without the particulars of one program."""
    text = re.sub(r" \(line \d+\)$", "", text)
    text = re.sub(r"'[^']*' object has no", "'X' object has no", text)
    return re.sub(r"\d+", "N", text)[:110]


def run(out, build, wanted):
    bases = sorted(f"{out}/task/{f[:-3]}" for f in os.listdir(out + "/task") if f.endswith(".py"))
    bases = [b for b in bases if os.path.exists(b + ".safetensors")]
    status, kinds, where = collections.Counter(), collections.Counter(), {}
    with tempfile.TemporaryDirectory() as folder:
        for b in bases:
            text = run_one(build, b, folder + "/out.safetensors")
            if text.startswith("differs") and not is_defined(b):
                text = "undefined: the outputs are not reproducible in PyTorch"
            status[text.split(":")[0]] += 1
            if text != "ok":
                kinds[kind_of(text)] += 1
                where.setdefault(kind_of(text), os.path.basename(b))
            if wanted and text.startswith(wanted):
                print(f"{b}.py: {text}")
    good, total = parsed(build, out)
    print(f"{total} classes: {good} parse ({100 * good / max(total, 1):.2f} %)")
    n = max(len(bases), 1)
    print(f"{len(bases)} run in PyTorch under a guess: {status['ok']} run here and agree ({100 * status['ok'] / n:.2f} %), "
          f"{status['differs']} run and differ, {status['undefined']} are not reproducible in PyTorch; "
          + ", ".join(f"{v} {k}" for k, v in status.most_common() if k not in ("ok", "differs", "undefined")))
    for text, count in kinds.most_common(60):
        print(f"{count:5d}  {text}   [{where[text]}]")
    return 1 if status["crash"] or good < total else 0


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("make", "run"):
        sys.exit(__doc__)
    option = dict(zip(sys.argv[3::2], sys.argv[4::2]))
    if sys.argv[1] == "make":
        return make(sys.argv[2], sys.argv[3:])
    return run(sys.argv[2], option.get("--build", TREE + "/build/release"), option.get("--list"))


if __name__ == "__main__":
    sys.exit(main())
