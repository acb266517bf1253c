#!/usr/bin/env python3
"""The parser against CPython 3.11: for every file, our dump equals ast.dump node by node with
positions (inside f-strings without them), what CPython's compile() refuses is refused, and the
printed tree parses to the same tree.

Then mutants, whose message and line are compared too and their share printed: statements of the
same files with a few tokens deleted, doubled, exchanged or replaced, of which CPython's parser
refuses most; and statements with a line put in where its compiler or symbol table may refuse it,
or with one name in the place of another.

usage: agree_py.py [--full] [--tool build/release/tool/py_dump] [FILE_OR_FOLDER...]

Without arguments: the standard library and the packages of this Python; a sample of them
(seeded, a bound on the bytes) unless --full. Exit code 0: all agree."""
import argparse
import ast
import collections
import keyword
import os
import random
import re
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import warnings

ROOTS = [sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["purelib"], "test/fuzz/corpus/py"]
SAMPLE_BYTES = 12_000_000
MUTANTS = 1500
MUTATED_FILES = 500
SAME_MESSAGE, SAME_LINE = 0.93, 0.98     # least shares among what both refuse
MISPLACED_SAME = 0.98                    # of messages and lines, where a line is out of place
PIECES = re.compile(r"""\w+|\s+|'[^'\n]*'|"[^"\n]*"|[^\w\s]""")
TOKENS = """( ) [ ] { } , : ; . = == := -> * ** @ / // + - ~ not and or if else elif for in is lambda x yield await async
    def class return import from as with try except finally raise while match case _ None True 1 1.5 2j 'a' b'b' f'{a}'
    f'{a!r:>{b}}' u'x' += ... global nonlocal del assert pass break continue print""".split() + ["\n"]
NAME = re.compile(r"\b[a-zA-Z_]\w*\b")
LINES = """return|return N|break|continue|yield N|N = yield|x = yield from N|await N|global N|nonlocal N|global N, M|pass
    from __future__ import annotations|from __future__ import braces|from __future__ import N|from N import *|import N.M
    N: M|N: M = 1|(N): int = 1|*N, *M = x|*N, M = x|*N = x|N = *M|del N|__debug__ = 1|N.__debug__ = 1|del __debug__
    f(N=1, M=2, N=3)|f(__debug__=1)|f(*N, **M, N=1)|[N := 1 for x in y]|[x for x in (N := y)]|[N := M for N in y]
    [[M := 1 for M in x] for N in y]|[(yield N) for x in y]|(await N for x in y)|[await N for x in y]|[x async for x in y]
    {N: (M := N) for N in y for M in x}|lambda N, M, N: 1|lambda *N, M: (yield)|lambda: await N|def N(N, M, *N): pass
    def N(M=N, *, N, **M): nonlocal M|def N(M): global M|async def N(M): return 1|async def N(): yield N; return 1
    async def N(): yield from M|async def N(): return [await M async for N in x]|class N(M, metaclass=N, x=1, x=2): pass
    class N: nonlocal M|class N: yield M|class N: return|async for N in M: pass|async with N as M: pass|for N in M: break
    while N: continue|for *N in M: pass|for N in *M, x: pass|with N as M, M as N: return|with N: break
    except_star|except_order|match_all|match_twice|match_or|match_keys|match_class|match_star""".replace("\n", "|").split("|")
BLOCKS = {
    "except_star": ["try:", "    pass", "except* N:", "    break"],
    "except_order": ["try:", "    pass", "except:", "    pass", "except N:", "    return"],
    "match_all": ["match N:", "    case M: pass", "    case 1: pass"],
    "match_twice": ["match N:", "    case [M, *N, {'a': M}]: pass"],
    "match_or": ["match N:", "    case [N] | {1: M}: pass", "    case _ | 1: pass"],
    "match_keys": ["match N:", "    case {1: _, -1: M, True: N, **x}: pass"],
    "match_class": ["match N:", "    case M(a=1, b=N, a=2): pass"],
    "match_star": ["match N:", "    case [*_, M, *N]: pass"],
}
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


def expected(path):
    """(dump, None) or (None, the reason CPython refuses it)"""
    with open(path, "rb") as f:
        source = f.read()
    try:
        compile(source, path, "exec", dont_inherit=True)
        tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as e:
        return None, "%s: %s" % (type(e).__name__, e)
    try:
        return ast.dump(tree, include_attributes=True), None
    except ValueError as e:
        return None, None


def statements(files, rng):
    """Source of short statements, at random"""
    known = {}
    while True:
        path = rng.choice(files)
        if path not in known:
            try:
                with open(path, encoding="utf-8") as f:
                    text = f.read()
                nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.stmt) and n.end_lineno - n.lineno < 25]
                known[path] = text.split("\n"), nodes
            except (SyntaxError, ValueError):
                known[path] = [], []
        lines, nodes = known[path]
        if nodes:
            n = rng.choice(nodes)
            yield textwrap.dedent("\n".join(lines[n.lineno - 1:n.end_lineno])) + "\n"


def mutant(text, rng):
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        parts = PIECES.findall(text)
        i = rng.randrange(len(parts))
        kind = rng.randrange(5)
        if kind == 0:
            del parts[i]
        elif kind == 1:
            parts.insert(i, rng.choice(parts))
        elif kind == 2:
            parts[i] = rng.choice(TOKENS)
        elif kind == 3:
            parts.insert(i, " %s " % rng.choice(TOKENS))
        else:
            j = rng.randrange(len(parts))
            parts[i], parts[j] = parts[j], parts[i]
        text = "".join(parts) or "\n"
    return text


def misplaced(text, rng):
    """A line put in at random, and perhaps one name in the place of another"""
    lines = text.split("\n")
    names = NAME.findall(text) + ["x", "super"]
    if rng.random() < 0.7:
        at = rng.randrange(len(lines))
        indent = re.match(r"\s*", lines[at]).group()
        new = rng.choice(LINES).strip()
        for line in reversed(BLOCKS.get(new, [new])):
            lines.insert(at, indent + re.sub(r"\b[NM]\b", lambda m: rng.choice(names), line))
    if rng.random() < 0.5:
        at = rng.randrange(len(lines))
        lines[at] = NAME.sub(lambda m: rng.choice(names) if rng.random() < 0.3 and not keyword.iskeyword(m.group()) else m.group(),
                             lines[at])
    return "\n".join(lines)


def compare_mutants(tool, files, count, mutant, same_message, same_line):
    """Number of mutants on which we and CPython do not agree"""
    rng = random.Random(2)
    files = rng.sample(files, min(len(files), MUTATED_FILES))
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i, text in zip(range(count), statements(files, rng)):
            paths.append("%s/%d.py" % (folder, i))
            with open(paths[-1], "w", encoding="utf-8") as f:
                f.write(mutant(text, rng))
        counts = collections.Counter()
        failed = 0
        for path, fields in run_tool(tool, paths):
            ok = compare(path, fields, counts, False)
            failed += not ok
            if not ok:
                print(open(path, encoding="utf-8").read())
            elif fields[0] == "error":
                try:
                    compile(open(path, "rb").read(), path, "exec", dont_inherit=True)
                except SyntaxError as e:
                    counts["with the same message"] += e.msg == fields[2]
                    counts["on the same line"] += e.lineno == int(fields[1].split(":")[0])
    print("%d %s: %s" % (count, mutant.__name__, ", ".join("%d %s" % (n, k) for k, n in counts.items())))
    refused = max(1, counts["refused by both"])
    if counts["with the same message"] / refused < same_message or counts["on the same line"] / refused < same_line:
        print("too few messages or lines are CPython's")
        failed += 1
    return failed


def run_tool(tool, files):
    """(path, fields of its line) for each file"""
    for i in range(0, len(files), 200):
        batch = files[i:i + 200]
        run = subprocess.run([tool], input="\n".join(batch) + "\n", stdout=subprocess.PIPE,
                             encoding="utf-8", errors="surrogatepass", check=True)
        lines = run.stdout.split("\n")[:-1]
        if len(lines) != len(batch):
            raise SystemExit("the tool printed %d lines for %d files" % (len(lines), len(batch)))
        for line in lines:
            path, *fields = line.split("\t", 3)
            yield path, fields


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
    ap.add_argument("--tool", default=os.environ.get("BUILD_DIR", "build/release") + "/tool/py_dump")
    ap.add_argument("paths", nargs="*")
    args = ap.parse_args()
    sys.setrecursionlimit(20000)
    if sys.version_info[:2] != (3, 11):
        print("skipped: the tree of Python %d.%d is not that of 3.11" % sys.version_info[:2])
        return 77
    files = list(dict.fromkeys(python_files(args.paths or ROOTS)))
    if not args.full and not args.paths:
        random.Random(1).shuffle(files)
        total, keep = 0, []
        files.sort(key=lambda f: not f.startswith(ROOTS[-1]))
        for f in files:
            total += os.path.getsize(f)
            if total > SAMPLE_BYTES:
                break
            keep.append(f)
        files = keep
    counts = collections.Counter()
    failed = 0
    warnings.simplefilter("ignore")
    for path, fields in run_tool(args.tool, files):
        failed += not compare(path, fields, counts, args.verbose)
    print("%d files: %s" % (len(files), ", ".join("%d %s" % (n, k) for k, n in counts.items() if n)))
    if not args.paths:
        count = MUTANTS * (20 if args.full else 1)
        failed += compare_mutants(args.tool, files, count, mutant, SAME_MESSAGE, SAME_LINE)
        failed += compare_mutants(args.tool, files, count, misplaced, MISPLACED_SAME, MISPLACED_SAME)
    return 1 if failed else 0


sys.exit(main())
