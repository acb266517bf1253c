#!/usr/bin/env python3
"""`verify --dump` against PyTorch: each folder's task.py is run with the dumped state and inputs,
in fp64 and as it stands, and gives what the judge expected; what a correct candidate gave agrees
too, what a wrong one gave does not. Exit code 0: all of it."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("TRITONRL", ROOT / "tritonrl"))

# Largest |a - b| / (|b| + rms(b)): of an fp64 run rounded once, and of a run in the dtype itself.
ROUNDED = {torch.float32: 2e-7, torch.float16: 1e-3}
OWN = {torch.float32: 1e-4, torch.float16: 2e-2}
# Sets that are ill-conditioned on purpose. PyTorch's own fp32 may be so many times as far from fp64 there as
# an fp64 run is whose inputs and state are each off by at most one rounding to fp32: a sum of K products rounds K times.
ILL_CONDITIONED = {"large", "offset"}
CONDITION = 32.0

# Forms that the generator does not make: sizes in a tuple, several outputs, buffers, eval mode.
OTHER = {
    "tuple": ("""
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return x * 3.0

shape, unused = (7, 2 * 512), 3

def get_inputs():
    return [torch.rand(*shape)]

def get_init_inputs():
    return []
""", """
        out = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), 3.0, BLOCK=256)
        return out
"""),
    "two": ("""
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, n):
        super(Model, self).__init__()
        self.norm = nn.BatchNorm1d(n)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(x) * 2.0, x * 5.0

rows = 64
width = 32

def get_inputs():
    return [torch.randn(rows, width)]

def get_init_inputs():
    return [width]
""", """
        out = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), 2.0, BLOCK=256)
        other = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 256),)](x, other, x.numel(), 5.0, BLOCK=256)
        return out, other
"""),
}
CANDIDATE = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scale_kernel(x_ptr, y_ptr, n, s, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * s, mask=i < n)

class ModelNew(nn.Module):
    def __init__(self{args}):
        super().__init__(){body}

    def forward(self, x):{forward}"""


def rows(tmp, count):
    """Candidates as JSONL rows: id, task, candidate, and whether they are right."""
    made = tmp / "tasks.jsonl"
    subprocess.run([PROGRAM, "tasks", "--style", "plain", "--level", "1,2,3", "--count", str(count), "--seed", "5", "--out", made], check=True, capture_output=True)
    for line in made.read_text().splitlines():
        row = json.loads(line)
        yield row["id"], row["task"], row["solution"], True
    for name, (task, forward) in OTHER.items():
        args, body = (", n", "\n        self.norm = nn.BatchNorm1d(n)") if "width" in task else ("", "")
        source = CANDIDATE.format(args=args, body=body, forward=forward)
        yield name, task, source, True
        yield name + "/wrong", task, source.replace("* s,", "* s + 0.01,"), False


def load(path):
    spec = importlib.util.spec_from_file_location("task", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def distance(got, want):
    most = torch.finfo(want.dtype).max if want.is_floating_point() else float("inf")
    got, want = got.double(), want.double()
    if got.shape != want.shape:
        return float("inf")
    if not want.numel():
        return 0.0
    # What the dtype does not hold is infinite there, and finite in fp64.
    same = (got == want) | (want.isinf() & (got.abs() > most) & (got.sign() == want.sign()))
    rms = want.masked_fill(want.isinf(), 0.0).square().mean().sqrt()
    off = ((got - want).abs() / (want.abs() + rms)).masked_fill(same, 0.0)
    return off.max().item() if not off.isnan().any() else float("inf")


def outputs(value):
    return [value] if torch.is_tensor(value) else list(value)


def state_left(model, before):
    """What forward left in the buffers that it changed, one after the other: part of the result. And which of that are counts."""
    changed = [b for n, b in model.named_buffers() if not torch.equal(b, before[n])]
    if not changed:
        return [], None
    counts = torch.cat([torch.full((b.numel(),), not b.is_floating_point()) for b in changed])
    return [torch.cat([b.flatten().double() for b in changed])], counts


def apart(results, counts):
    """What was left in buffers, as the floats and the counts in it."""
    return results if counts is None else results[:-1] + [results[-1][~counts], results[-1][counts]]


def rounded_off(x):
    """x with each element off by at most half a unit in the last place of fp32, at random."""
    return x * (1.0 + (2.0 * torch.rand_like(x) - 1.0) * 2.0**-24)


def run(path, group, double, change=lambda x: x):
    """Runs the task with the dumped tensors: in fp64, where `change` alters inputs and state, or as it stands."""
    module = load(path / "task.py")
    model = module.Model(*module.get_init_inputs())
    inputs = module.get_inputs()
    drawn = [(tuple(x.shape), x.dtype) for x in inputs if torch.is_tensor(x)]
    model.load_state_dict(group["state"], strict=True)
    inputs = [group["input"].get(str(i), x) for i, x in enumerate(inputs)]
    given = [(tuple(x.shape), x.dtype) for x in inputs if torch.is_tensor(x)]
    if double:
        model = model.double()
        inputs = [change(x.double()) if torch.is_tensor(x) and x.is_floating_point() else x for x in inputs]
        for p in [*model.parameters(), *model.buffers()]:
            if p.is_floating_point():
                p.data = change(p.data)
    before = {n: b.clone() for n, b in model.named_buffers()}
    with torch.no_grad():
        result = outputs(model(*inputs))
    # In half precision the buffers are left out.
    left, counts = state_left(model, before) if path.name != "dtype" else ([], None)
    return result + left, drawn == given or "meta." in path.name, counts


def check_folder(path, right, worst):
    """Lines about what is wrong in one folder, and how far the candidate was off."""
    group = {"state": {}, "input": {}, "expected": {}, "got": {}}
    for name, tensor in load_file(path / "tensors.safetensors").items():
        kind, _, rest = name.partition(".")
        group[kind][rest] = tensor
    want = [group["expected"][str(i)] for i in range(len(group["expected"]))]
    got = [group["got"][str(i)] for i in range(len(group["got"]))]
    bad = []
    exact, sized, counts = run(path, group, True)
    own, _, _ = run(path, group, False)
    if not sized:
        bad.append("get_inputs of task.py draws other shapes than were dumped")
    if len(exact) != len(want) or not want or (counts is not None and want[-1].shape != counts.shape):
        return [f"{len(want)} results expected, {len(exact)} given by PyTorch"], 0.0
    exact, own, want = (apart(r, counts) for r in (exact, own, want))
    allowed = [OWN.get(w.dtype, OWN[torch.float32]) for w in want]
    if path.name in ILL_CONDITIONED:
        near = apart(run(path, group, True, rounded_off)[0], counts)
        allowed = [max(t, CONDITION * distance(n, e)) for t, n, e in zip(allowed, near, exact)]
    for i, w in enumerate(want):
        dt = w.dtype if w.dtype in OWN else torch.float32
        a, b = distance(exact[i], w), distance(own[i], w)
        worst[0], worst[1] = max(worst[0], a / ROUNDED[dt]), max(worst[1], b / allowed[i])
        if not a <= ROUNDED[dt] or not b <= allowed[i]:
            bad.append(f"expected.{i}: PyTorch in fp64 is {a:.2g} away, in {dt} {b:.2g}")
    if counts is not None and len(got) + 1 == len(want) and got[-1].shape == counts.shape:
        got = apart(got, counts)
    if len(got) != len(want):
        return bad + [f"{len(got)} results dumped as given"], 0.0
    # A count may be left as it was, and is not a number then.
    if counts is not None:
        got[-1] = torch.where(got[-1].isnan(), want[-1], got[-1])
    off = max(distance(g, w) / t for g, w, t in zip(got, want, allowed))
    if right and not off <= 1.0:
        bad.append(f"a correct candidate is {off:.2g} tolerances away")
    return bad, off


def main():
    torch.manual_seed(1)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    passed = failed = 0
    worst = [0.0, 0.0]
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        cases = list(rows(tmp, count))
        (tmp / "c.jsonl").write_text("".join(json.dumps({"id": i, "task": t, "candidate": c}) + "\n" for i, t, c, _ in cases))
        p = subprocess.run([PROGRAM, "verify", "--jsonl", tmp / "c.jsonl", "--json", "--dump", tmp / "dump"], capture_output=True, text=True)
        verdicts = {v["id"]: v for v in map(json.loads, p.stdout.splitlines())}
        for name, _, _, right in cases:
            folders = sorted((tmp / "dump" / name.replace("/", "_")).iterdir())
            verdict, offs = verdicts[name], []
            for path in folders:
                bad, off = check_folder(path, right, worst)
                offs.append(off)
                passed, failed = passed + (not bad), failed + bool(bad)
                for text in bad:
                    print(f"{name} {path.name}: {text}")
            seen = {i["kind"] for i in verdict["inputs"] if "skipped" not in i}
            ok = (verdict["verdict"] == "correct") == right and seen <= {f.name for f in folders} and (right or max(offs) > 1.0)
            passed, failed = passed + ok, failed + (not ok)
            if not ok:
                print(f"{name}: verdict {verdict['verdict']} ({verdict['message']}), inputs {seen}, dumped {[f.name for f in folders]}, off {max(offs):.2g}")
    print(f"largest distance, in tolerances: fp64 run {worst[0]:.2f}, own run {worst[1]:.2f}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
