#!/usr/bin/env python3
"""The cycle check: prints the largest call cycle of each folder of src, and fails if it is above its limit.

Two .c files of one top folder are in a call cycle if each can reach the other through calls. Such files
can only be read and tested together. The check needs no build: a file calls another one if its code names a
function that the other one defines and that is not static.

With --verbose it also prints the names that connect the files of each cycle."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The most files that a call cycle of a folder may have. Lower a limit when a cycle gets smaller; never raise one.
LIMITS = {
    "base": 2, "cmd": 4, "data": 2, "dev": 2, "gen": 12, "interp": 32, "jinja": 6, "num": 2, "py":
    24, "serve": 2, "solve": 2, "tensor": 3, "tile": 12, "tok": 2, "verify": 8,
}
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
FUNCTION = re.compile(r"^(?!#)([a-zA-Z_][^;{}=]*?)\b(?:SIMD_FN\()?(\w+)\)?\(([^;{}]*)\)\s*\n\{", re.M)
NAME = re.compile(r"(?<!->)(?<!\.)(?<!\w)([a-zA-Z_]\w*)(\s*\()?")
# "type name", "type *name" and "type a, name;": a variable, a parameter or a member, not a function.
VARIABLE = re.compile(r"\b(?!return\b|case\b|else\b|goto\b|sizeof\b)\w+[ \t]+\**(\w+)\b(?![ \t]*\()")
DECLARED = re.compile(r"^[ \t]+(?:\w+[ \t]+)+\**\w+[^;(){}]*,[^;(){}]*;", re.M)
INCLUDE = re.compile(r'#\s*include\s+"([^"]+\.(?:def|inc))"')
TAG = re.compile(r"\b(?:struct|enum|union)\s+\w+")      # the name of a type, never of a function
PASTE = re.compile(r"\b(\w+)##\w+(?:##(\w+))?")


def bare(text):
    """The code without comments and strings."""
    return COMMENT.sub(" ", text)


def functions(code):
    """(all names, names that other files can see) of the functions that a source defines."""
    found = [(head, name) for head, name, _ in FUNCTION.findall(code)]
    return {name for _, name in found}, {name for head, name in found if not re.search(r"\bstatic\b", head)}


def variables(code):
    return set(VARIABLE.findall(code)) | {w for d in DECLARED.findall(code) for w in re.findall(r"\w+", d)}


def pasted(path, code):
    """Names that macros of the source build of the words of the tables that it includes."""
    tables = [f for name in INCLUDE.findall(path.read_text(encoding="utf-8")) if (f := ROOT / "src" / name).exists()]
    words = {w for f in tables for w in re.findall(r"\w+", bare(f.read_text(encoding="utf-8")))}
    return {before + w + after for before, after in PASTE.findall(code) for w in words}


def names(path, code):
    """The names by which a source may call others: those before '(', and those that are no variable of it."""
    found = NAME.findall(TAG.sub(" ", code))
    return {n for n, call in found if call} | ({n for n, _ in found} - variables(code)) | pasted(path, code)


def call_graph(folder):
    """{file: {called file: names}} of the .c files below a folder."""
    code = {path: bare(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.c"))}
    own = {path: functions(text) for path, text in code.items()}
    home = {name: path for path, (_, public) in own.items() for name in public}
    graph = {path: collections.defaultdict(set) for path in code}
    for path, text in code.items():
        for name in names(path, text):
            target = home.get(name)
            if target and target != path and name not in own[path][0]:
                graph[path][target].add(name)
    return graph


def components(graph):
    """Strongly connected components (Tarjan), as lists of files."""
    index, low, stack, out = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in graph[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            at = stack.index(v)
            out.append(stack[at:])
            del stack[at:]

    for v in graph:
        if v not in index:
            visit(v)
    return out


def connections(graph, cycle):
    for path in sorted(cycle):
        for target in sorted(set(graph[path]) & set(cycle)):
            yield f"    {path.name} -> {target.name}: {' '.join(sorted(graph[path][target]))}"


def main():
    sys.setrecursionlimit(10000)
    faults = 0
    for folder in sorted(p for p in (ROOT / "src").iterdir() if p.is_dir()):
        graph = call_graph(folder)
        cycles = sorted(components(graph), key=len) or [[]]
        cycle, limit = cycles[-1], LIMITS.get(folder.name, 1)
        over = len(cycle) > limit
        faults += over
        if over or len(cycle) > 1:
            print(f"cycles: {folder.name}: {len(cycle)} files (limit {limit}): "
                  f"{' '.join(sorted(p.name for p in cycle))}{'  TOO MANY' if over else ''}")
        if "--verbose" in sys.argv:
            for each in cycles:
                if len(each) > 1:
                    print(f"  {len(each)} files", *connections(graph, each), sep="\n")
    print(f"cycles: {faults} folders above their limit")
    return 1 if faults else 0


sys.exit(main())
