#!/usr/bin/env python3
"""operators.py KERNELBENCH PROGRAM [ROWS]: the operators in KernelBench's levels 1 and 2, and
whether the generator has them. Reads only which calls occur: modules made in __init__, functions and
methods called in forward, arithmetic. Prints the table of doc/data.md."""
import ast
import collections
import json
import pathlib
import subprocess
import sys

NOT_OPERATORS = {"module", "parameter", "super", "init", "tensor", "randn", "rand", "ones", "zeros", "size", "range", "len", "float", "int"}
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@"}


def plain(name):
    return name.replace("_", "").lower()


def last_name(node):
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def calls_of(function, members):
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            own = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id == "self"
            name = plain(last_name(node.func))
            if not (own and last_name(node.func) in members) and name not in NOT_OPERATORS:
                yield name
        elif isinstance(node, ast.BinOp) and type(node.op) in SIGNS and not all(isinstance(x, ast.Constant) for x in (node.left, node.right)):
            yield SIGNS[type(node.op)]


def operators(source):
    """Operators of one task, each once."""
    out = set()
    for cls in (n for n in ast.parse(source).body if isinstance(n, ast.ClassDef)):
        methods = {f.name: f for f in cls.body if isinstance(f, ast.FunctionDef)}
        members = set()
        for node in ast.walk(methods.get("__init__", cls)):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute) and isinstance(node.value, ast.Call):
                members.add(node.targets[0].attr)
                name = plain(last_name(node.value.func))
                if name not in NOT_OPERATORS:
                    out.add(name)
        if "forward" in methods:
            out.update(calls_of(methods["forward"], members))
    return out


def drawn(program, rows):
    out = set()
    text = subprocess.run([program, "tasks", "--no-verify", "--quiet", "--level", "1,2", "--split", "all", "--count", str(rows), "--out", "-"],
                          check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        out |= operators(json.loads(line)["task"])
    return out


def main():
    count = collections.Counter()
    for level in ("level1", "level2"):
        for path in sorted(pathlib.Path(sys.argv[1], level).glob("*.py")):
            count.update(operators(path.read_text()))
    have = drawn(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 20000)
    missing = [name for name in count if name not in have]
    for name, n in sorted(count.items(), key=lambda x: (-x[1], x[0])):
        print(f"{name} {n}{'' if name in have else ' MISSING'}")
    print(f"{len(count) - len(missing)} of {len(count)} operators, {sum(n for k, n in count.items() if k in have)} of {sum(count.values())} occurrences",
          file=sys.stderr)
    return bool(missing)


sys.exit(main())
