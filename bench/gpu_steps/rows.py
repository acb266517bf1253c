"""Candidates: those of the tests, mutants of them, rows of files, and small kernels made here."""
import gzip
import json
import os
import pathlib
import random
import re
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Each with the mutations that are tried on a kernel's lines, in order.
MUTATIONS = [(r" \+ ", " - "), (r" \* ", " + "), (r"tl\.maximum", "tl.minimum"), (r"tl\.sum", "tl.max"), (r" < ", " <= "),
             (r"other=0\.0", "other=1.0"), (r"tl\.exp\(", "tl.abs("), (r" / ", " * "), (r"axis=1", "axis=0"), (r"- ", "+ ")]
MUTANTS = 3


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
        # Some files among the cheats are controls: right, or wrong without a trick.
        row = row_of(path, "control" if re.search(r"^# (control|expect: \w+ ok$)", path.read_text(), re.M) else "cheat",
                     ROOT / "test/cheats/tasks")
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


def hash_of(text):
    return zlib.crc32(text.encode())
