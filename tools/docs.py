#!/usr/bin/env python3
"""Documents and the tree. Writes the table of reasons in doc/verdict.md from src/py/reason.def; with --check
fails if the table differs, if a document names a file or folder that does not exist, or if a link leads nowhere."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r'REASON\((\w+),\s*(\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)')
HEAD = "| reason | class | meaning |\n|---|---|---|\n"
PATH = re.compile(r"`((?:[\w-][\w.-]*/)+[\w.*-]*)`")
LINK = re.compile(r"\]\(([^)#:\s]+)(#[\w-]+)?\)")
TOP = ("src", "test", "tools", "doc", "bench", "configs", "models", "tasks", "python")


def joined(literals):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals))


def reasons():
    """(the page as it is, the page as it should be, number of reasons)"""
    old = (ROOT / "doc/verdict.md").read_text(encoding="utf-8")
    rows = ROW.findall((ROOT / "src/py/reason.def").read_text(encoding="utf-8"))
    table = "".join(f"| `{code}` | {kind} | {joined(text)} |\n" for code, kind, text in rows)
    start = old.index(HEAD) + len(HEAD)
    return old, old[:start] + table + re.sub(r"\A(\|.*\n)*", "", old[start:]), len(rows)


def exists(name):
    """A path from the root, or from src: `verify/pool/pool.c`. Patterns must match something."""
    head = name.split("/")[0]
    roots = [ROOT] if head in TOP else [ROOT / "src"] if (ROOT / "src" / head).is_dir() else []
    if not roots or "NAME" in name or name.endswith("cuda-GPU.txt") or name == "data/processed/":
        return True                     # a placeholder, or a path of a run folder
    return any(any(r.glob(name.rstrip("/"))) for r in roots)


def faults():
    for page in sorted([*ROOT.glob("*.md"), *(ROOT / "doc").glob("*.md")]):
        text = page.read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            for name in PATH.findall(line):
                if not exists(name):
                    yield f"{page.relative_to(ROOT)}:{number}: there is no '{name}'"
            for target, _ in LINK.findall(line):
                if not (page.parent / target).exists():
                    yield f"{page.relative_to(ROOT)}:{number}: the link leads nowhere: '{target}'"


def main():
    old, new, n = reasons()
    found = []
    if "--check" not in sys.argv:
        (ROOT / "doc/verdict.md").write_text(new, encoding="utf-8")
    else:
        found = list(faults())
        if new != old:
            found.append("doc/verdict.md: the table of reasons differs from src/py/reason.def; run tools/docs.py")
    print("\n".join(found + [f"docs: {n} reasons, {len(found)} faults"]))
    return 1 if found else 0


sys.exit(main())
