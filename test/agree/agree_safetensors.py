#!/usr/bin/env python3
"""safetensors files against Hugging Face's: what it wrote is read and written again byte for
byte; sharded folders load in transformers' way. Exit code 0: all equal."""
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("BUILD_DIR", ROOT / "build/release")) / "tool/st_tool"
DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64, torch.uint64,
          torch.float8_e4m3fn, torch.float8_e5m2, torch.float16, torch.bfloat16, torch.float32, torch.float64]


def tensors(rng):
    out = {}
    for i in range(rng.randint(0, 40)):
        shape = [rng.randint(0, 6) for _ in range(rng.randint(0, 4))]
        data = torch.randint(0, 2, shape).to(rng.choice(DTYPES))
        out[rng.choice(["model.layers.{}.w", "a{}", "é{}", "{}\"q\\"]).format(i)] = data
    return out


def run(*args):
    return subprocess.run([str(TOOL), *map(str, args)], capture_output=True, text=True)


def check_copy(tmp, rng):
    source, copy = tmp / "a.safetensors", tmp / "b.safetensors"
    save_file(tensors(rng), source, metadata={"format": "pt"})
    p = run("copy", source, copy)
    return p.returncode == 0 and source.read_bytes() == copy.read_bytes()


def check_shards(tmp, rng):
    source, folder = tmp / "a.safetensors", tmp / f"shards{rng.random()}"
    want = tensors(rng) | {"x": torch.zeros(100), "y": torch.ones(100)}
    save_file(want, source, metadata={"format": "pt"})
    if run("shard", source, folder, 500).returncode:
        return False
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    got = {}
    for name, shard in index["weight_map"].items():
        with safe_open(folder / shard, "pt") as f:
            got[name] = f.get_tensor(name)
    back = run("copy", folder, tmp / "c.safetensors")
    again = load_file(tmp / "c.safetensors") if back.returncode == 0 else {}
    return all(set(x) == set(want) and all(torch.equal(x[k].view(torch.uint8) if x[k].numel() and x[k].dim() else x[k], want[k].view(torch.uint8)
               if x[k].numel() and x[k].dim() else want[k]) and x[k].dtype == want[k].dtype for k in want) for x in (got, again))


def check_damage(tmp, rng):
    """A damaged file is refused or read; it never ends the program by a signal, and what
    Hugging Face refuses is refused."""
    source = tmp / "d.safetensors"
    save_file(tensors(rng) | {"x": torch.zeros(3)}, source)
    data = bytearray(source.read_bytes())
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(min(len(data), 300))] = rng.randrange(256)
    source.write_bytes(data[:rng.randint(0, len(data))] if rng.random() < 0.2 else data)
    p = run("copy", source, tmp / "e.safetensors")
    try:
        load_file(source)
        theirs = True
    except Exception:
        theirs = False
    return p.returncode in (0, 2) and (theirs or p.returncode == 2)


def main():
    if not TOOL.exists():
        raise SystemExit(f"{TOOL} is missing: make unit")
    rng = random.Random(3)
    torch.manual_seed(3)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for check, times in ((check_copy, 60), (check_shards, 20), (check_damage, 200)):
            for i in range(times):
                ok = check(Path(folder), rng)
                passed, failed = passed + ok, failed + (not ok)
                if not ok:
                    print(f"{check.__name__} {i}: differs")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
