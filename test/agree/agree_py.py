#!/usr/bin/env python3
"""The parser against CPython 3.11: for every file, our dump equals ast.dump node by node with
positions (inside f-strings without them), what CPython refuses is refused, and the printed
tree parses to the same tree.

usage: agree_py.py [--full] [--tool build/release/tool/py_dump] [FILE_OR_FOLDER...]

Without arguments: the standard library and the packages of this Python; a sample of them
(seeded, a bound on the bytes) unless --full. Exit code 0: all agree."""
import argparse
import ast
import os
import random
import re
import subprocess
import sys
import sysconfig
import warnings

SAMPLE_BYTES = 12_000_000
POSITION = re.compile(r", lineno=\d+, col_offset=\d+, end_lineno=\d+, end_col_offset=\d+")


def python_files(roots):
    for root in roots:
        if os.path.isfile(root):
            yield root
        for folder, names, files in os.walk(root):
            names.sort()
            for f in sorted(files):
                if f.endswith(".py"):
                    yield os.path.join(folder, f)


def drop_fstring_positions(text):
    """CPython 3.11 gives odd positions inside f-strings: those are not compared."""
    out, at = [], 0
    while True:
        i = text.find("JoinedStr(values=[", at)
        if i < 0:
            out.append(text[at:])
            return "".join(out)
        depth, j, quote = 1, i + len("JoinedStr(values=["), None
        while depth:
            c = text[j]
            if quote:
                if c == "\\":
                    j += 1
                elif c == quote:
                    quote = None
            elif c in "'\"":
                quote = c
            elif c in "([":
                depth += 1
            elif c in ")]":
                depth -= 1
            j += 1
        out.append(text[at:i])
        out.append(POSITION.sub("", text[i:j]))
        at = j


def escape(text):
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")


def expected(path):
    """(dump, None) or (None, the reason CPython refuses it)"""
    with open(path, "rb") as f:
        source = f.read()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as e:
        return None, "%s: %s" % (type(e).__name__, e)
    try:
        return ast.dump(tree, include_attributes=True), None
    except ValueError as e:
        return None, None


def first_difference(a, b):
    n = min(len(a), len(b))
    i = next((k for k in range(n) if a[k] != b[k]), n)
    return "ours ...%s\n     CPython ...%s" % (b[max(0, i - 60):i + 80], a[max(0, i - 60):i + 80])


def compare(path, fields, counts, verbose):
    want, refused = expected(path)
    status, where, rest = fields
    if want is None and refused is None:
        counts["not dumped by CPython"] += 1
        return True
    if want is None:
        counts["refused by both" if status == "error" else "refused by CPython only"] += 1
        if status != "error":
            print("%s: accepted, CPython: %s" % (path, refused))
        elif verbose:
            print("%s: ours %s %s | CPython %s" % (path, where, rest, refused))
        return status == "error"
    if status == "error":
        counts["refused by us only"] += 1
        print("%s:%s: refused: %s" % (path, where, rest))
        return False
    if drop_fstring_positions(want) != drop_fstring_positions(rest):
        counts["different"] += 1
        print("%s: %s" % (path, first_difference(drop_fstring_positions(want), drop_fstring_positions(rest))))
        return False
    counts["equal"] += 1
    counts["printed tree parses to the same" if where == "same" else "printed tree differs"] += 1
    if where != "same":
        print("%s: the printed tree differs" % path)
    return where == "same"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--full", action="store_true")
    ap.add_argument("--verbose", action="store_true", help="show what both refuse")
    ap.add_argument("--tool", default="build/release/tool/py_dump")
    ap.add_argument("paths", nargs="*")
    args = ap.parse_args()
    sys.setrecursionlimit(20000)
    if sys.version_info[:2] != (3, 11):
        print("skipped: the tree of Python %d.%d is not that of 3.11" % sys.version_info[:2])
        return 77
    files = list(dict.fromkeys(python_files(args.paths or [sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["purelib"]])))
    if not args.full and not args.paths:
        random.Random(1).shuffle(files)
        total, keep = 0, []
        for f in files:
            total += os.path.getsize(f)
            if total > SAMPLE_BYTES:
                break
            keep.append(f)
        files = keep
    counts = dict.fromkeys(["equal", "refused by both", "refused by us only", "refused by CPython only", "different",
                            "not dumped by CPython", "printed tree parses to the same", "printed tree differs"], 0)
    failed = 0
    for i in range(0, len(files), 200):
        batch = files[i:i + 200]
        run = subprocess.run([args.tool], input="\n".join(batch) + "\n", stdout=subprocess.PIPE,
                             encoding="utf-8", errors="surrogatepass", check=True)
        lines = run.stdout.split("\n")[:-1]
        if len(lines) != len(batch):
            raise SystemExit("the tool printed %d lines for %d files" % (len(lines), len(batch)))
        for line in lines:
            path, *fields = line.split("\t", 3)
            failed += not compare(path, fields, counts, args.verbose)
    print("%d files: %s" % (len(files), ", ".join("%d %s" % (n, k) for k, n in counts.items() if n)))
    return 1 if failed else 0


sys.exit(main())
