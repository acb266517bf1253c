#!/usr/bin/env python3
"""The PTX of tl.inline_asm_elementwise against the real assembler: every product of instruction names, modifiers and
types. The ones that the tile front end accepts must assemble with Triton's ptxas for sm_90. No GPU is needed.

    agree_inline_asm.py
"""
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import triton

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("BUILD_DIR", ROOT / "build/release")) / "tool/tile_check"
PTXAS = Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"
TYPES = "f16 bf16 f32 f64 s16 u16 s32 u32 s64 u64 b16 b32 b64 pred".split()
SOURCES = {"mov": 1, "add": 2, "sub": 2, "mul": 2, "mad": 3, "fma": 3, "div": 2, "min": 2, "max": 2, "neg": 1, "abs": 1,
           "rcp": 1, "sqrt": 1, "rsqrt": 1, "ex2": 1, "lg2": 1, "sin": 1, "cos": 1, "tanh": 1, "and": 2, "or": 2, "xor": 2,
           "not": 1, "shl": 2, "shr": 2, "selp": 3}
MODIFIERS = ["", "rn", "rz", "ftz", "rn.ftz", "lo", "hi", "wide", "full", "full.ftz", "approx", "approx.ftz", "NaN", "ftz.NaN", "sat"]
COMPARES = "eq ne lt le gt ge equ neu ltu leu gtu geu lo ls hi hs num nan".split()
ROUNDINGS = ["", "rn", "rz", "rni", "rzi", "rmi", "rpi"]
HEAD = "import triton\nimport triton.language as tl\n\n"


def candidates():
    """Each instruction with the types of its operands, the result first."""
    for (name, n), m, t in itertools.product(SOURCES.items(), MODIFIERS, TYPES):
        types = [t] * (n + 1)
        if name in ("shl", "shr"):
            types[2] = "u32"
        if name == "selp":
            types[3] = "pred"
        yield name, ".".join(filter(None, [name, m, t])), types
    for c, m, t in itertools.product(COMPARES, ["", "ftz"], TYPES):
        yield "setp", ".".join(filter(None, ["setp", c, m, t])), ["pred", t, t]
    for m, ftz, d, s in itertools.product(ROUNDINGS, ["", "ftz"], TYPES, TYPES):
        yield "cvt", ".".join(filter(None, ["cvt", m, ftz, d, s])), [d, s]


def text(op, types):
    """The instruction on registers of bits, each written before; $1 is a 32-bit input."""
    out = []
    for i, t in enumerate(types):
        bits = t if t == "pred" else "b" + t.lstrip("bfsu")
        out.append(f".reg .{bits} r{i};")
        if i:
            out.append(f"setp.eq.b32 r{i}, $1, $1;" if t == "pred" else f"mov.{bits} r{i}, 1;")
    return "{ %s %s %s; mov.b32 $0, $1; }" % (" ".join(out), op, ", ".join(f"r{i}" for i in range(len(types))))


def accepted(folder):
    """The texts that the front end translates."""
    tool = subprocess.Popen([str(TOOL)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for name, group in itertools.groupby(candidates(), key=lambda c: c[0]):
        texts = [text(op, types) for _, op, types in group]
        path = Path(folder) / f"{name}.py"
        path.write_text(HEAD + "\n".join(
            f"@triton.jit\ndef k{i}(p):\n    x = tl.load(p)\n    tl.store(p, tl.inline_asm_elementwise({t!r}, '=r,r', [x], "
            "tl.int32, True, 1))\n" for i, t in enumerate(texts)))
        for i, t in enumerate(texts):
            tool.stdin.write(f"{path}\tk{i}\tp=*i32\n")
            tool.stdin.flush()
            answer = json.loads(tool.stdout.readline())
            if answer["result"] != "accept":
                sys.exit(f"{t}: {answer}")
            if answer.get("reason") != "unsupported":
                yield t
    tool.stdin.close()
    tool.wait()


def main():
    with tempfile.TemporaryDirectory() as folder:
        texts = list(accepted(folder))
        head = [".version 8.7", ".target sm_90a", ".address_size 64", ".visible .entry k() {", ".reg .b32 d, x;"]
        ptx = Path(folder) / "all.ptx"
        ptx.write_text("\n".join(head + [t.replace("$0", "d").replace("$1", "x") for t in texts] + ["ret;", "}", ""]))
        r = subprocess.run([PTXAS, "--gpu-name=sm_90a", ptx, "-o", ptx.with_suffix(".o")], capture_output=True, text=True)
    bad = sorted({int(n) - len(head) - 1 for n in re.findall(r"line (\d+); error", r.stderr)})
    for i in bad:
        print("ptxas refuses", texts[i] if 0 <= i < len(texts) else r.stderr)
    failed = len(bad) or int(r.returncode != 0 or not texts)
    print(f"{len(texts) - len(bad)} passed, {failed} failed, 0 skipped")
    return bool(failed)


sys.exit(main())
