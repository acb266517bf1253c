#!/usr/bin/env python3
"""Control flow: random kernels of branches, loops, early returns, helpers and swaps over integers,
run by the tile machine and, as plain Python, by Python itself. Every variable at the end must be
the same.

    agree_tile_flow.py [--count N] [--seed N]
"""
import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("BUILD_DIR", ROOT / "build/release")) / "tool/tile_eval"
VARS = "abcdef"


class tl:
    """What the generated text uses of triton.language, for Python."""
    static_range = range


class Writer:
    def __init__(self, rng):
        self.rng, self.loops = rng, 0

    def expr(self, depth, extra, helpers=()):
        rng, r = self.rng, self.rng.random()
        if depth == 0 or r < 0.3:
            return rng.choice([*VARS, *extra, str(rng.randrange(9)), "n"])
        if r < 0.75:
            return f"(({self.expr(depth - 1, extra, helpers)} {rng.choice('+-*&|^')} {self.expr(depth - 1, extra, helpers)}) & 1023)"
        if r < 0.85 and helpers:
            return f"{rng.choice(helpers)}({self.expr(depth - 1, extra)}, {self.expr(depth - 1, extra)})"
        if r < 0.93:
            return f"({self.expr(depth - 1, extra, helpers)} if {self.cond(depth - 1, extra)} else {rng.choice(VARS)})"
        return f"min({self.expr(depth - 1, extra, helpers)}, {rng.choice(VARS)})"

    def cond(self, depth, extra):
        op = self.rng.choice(["<", ">", "==", "!=", "<=", ">="])
        c = f"({self.expr(max(depth, 0), extra)} {op} {self.expr(max(depth, 0), extra)})"
        return f"({c} & {self.cond(0, extra)})" if self.rng.random() < 0.2 else c

    def assignment(self, extra, helpers):
        rng = self.rng
        if rng.random() < 0.2:
            x, y = rng.sample(VARS, 2)
            return f"{x}, {y} = {y}, {self.expr(1, extra, helpers)}"
        if rng.random() < 0.3:
            return f"{rng.choice(VARS)} += {self.expr(1, extra, helpers)}"
        return f"{rng.choice(VARS)} = {self.expr(2, extra, helpers)} + 0"

    def for_head(self, name):
        rng, kind = self.rng, self.rng.random()
        if kind < 0.3:
            return f"for {name} in tl.static_range({rng.randrange(4)}):"
        if kind < 0.6:
            return f"for {name} in range({rng.randrange(5)}):"
        if kind < 0.8:
            return f"for {name} in range({rng.randrange(9)}, {rng.randrange(-1, 4)}, -{rng.randrange(1, 4)}):"
        return f"for {name} in range(n, n + {rng.randrange(7)}, {rng.randrange(1, 3)}):"

    def block(self, depth, extra, helpers, leave, in_loop, indent):
        rng, out, p = self.rng, [], "    " * indent

        def inner(more=(), loop=False):
            out.extend(self.block(depth - 1, [*extra, *more], helpers, leave, in_loop or loop, indent + 1))

        def maybe_leave(chance):
            if not in_loop and rng.random() < chance:
                out.append(p + "    " + leave())

        for _ in range(rng.randrange(1, 4)):
            r = rng.random()
            if depth == 0 or r < 0.45:
                out.append(p + self.assignment(extra, helpers))
            elif r < 0.7:
                out.append(f"{p}if {self.cond(1, extra)}:")
                inner()
                maybe_leave(0.3)
                if rng.random() < 0.5:
                    out.append(p + "else:")
                    inner()
                    maybe_leave(0.15)
            elif r < 0.88:
                self.loops += 1
                out.append(p + self.for_head(f"i{self.loops}"))
                inner([f"i{self.loops}"], True)
            else:
                self.loops += 1
                w = f"w{self.loops}"
                out += [f"{p}{w} = 0", f"{p}while ({w} < {rng.randrange(4)}) & ({rng.choice(VARS)} < 2000):", f"{p}    {w} += 1"]
                inner([w], True)
        return out

    def helper(self, name):
        body = ["a = x + 0", "b = y + 0", "c = 1 + x", "d = 2", "e = x - y", "f = 5", "n = 3"]
        leave = lambda: f"return {self.rng.choice(VARS)} & 1023"
        return [f"def {name}(x, y):"] + ["    " + s for s in body] + self.block(2, [], (), leave, False, 1) + ["    " + leave()]

    def program(self):
        rng = self.rng
        helpers = ["first", "second"]
        parts = [self.helper(h) for h in helpers]
        body = [f"    {v} = {i * 3 + 1} + 0 * n" if rng.random() < 0.5 else f"    {v} = {i + 2}" for i, v in enumerate(VARS)]
        body += self.block(3, [], helpers, lambda: "return", False, 1)
        head = "import triton\nimport triton.language as tl\n\n"
        kernel = head + "\n\n".join("@triton.jit\n" + "\n".join(h) for h in parts) + "\n\n@triton.jit\ndef k(p, n):\n" + "\n".join(
            body + [f"    tl.store(p + {i}, {v})" for i, v in enumerate(VARS)]) + "\n"
        python = "\n".join("\n".join(h) for h in parts) + "\ndef k(p, n):\n" + "\n".join(body + [f"    p[{i}] = {v}" for i, v in enumerate(VARS)]) + "\n"
        return kernel, python


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--count", type=int, default=1500)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    writer = Writer(random.Random(args.seed))
    p = subprocess.Popen([str(TOOL)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    wrong = 0
    with tempfile.TemporaryDirectory() as tmp:
        path, data = Path(tmp) / "k.py", Path(tmp) / "p.bin"
        for number in range(args.count):
            kernel, python = writer.program()
            n = writer.rng.choice([0, 2, 5])
            want, scope = [-7] * 8, {"tl": tl}
            exec(python, scope)
            scope["k"](want, n)
            want = [(v + 2**31) % 2**32 - 2**31 for v in want]
            path.write_text(kernel)
            data.write_bytes(struct.pack("8i", *[-7] * 8))
            tensor = {"name": "p", "tensor": str(data), "dtype": "i32", "count": 8, "offset": 0}
            p.stdin.write(json.dumps({"path": str(path), "kernel": "k", "grid": [1, 1, 1], "args": [tensor, {"name": "n", "int": n}]}) + "\n")
            p.stdin.flush()
            answer = p.stdout.readline().strip()
            got = list(struct.unpack("8i", data.read_bytes()))
            if answer != "ok" or got != want:
                wrong += 1
                if wrong < 3:
                    print(f"--- program {number}, n = {n}: {answer}\n{kernel}# got  {got}\n# want {want}")
    print(f"agree_tile_flow: {args.count} programs, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
