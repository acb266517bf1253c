#!/usr/bin/env python3
"""Writes the table of reasons in doc/verdict.md from src/py/reason.def; with --check fails if they differ."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r'REASON\((\w+),\s*(\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)')
HEAD = "| reason | class | meaning |\n|---|---|---|\n"


def joined(literals):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals))


def main():
    page = ROOT / "doc/verdict.md"
    old = page.read_text(encoding="utf-8")
    rows = ROW.findall((ROOT / "src/py/reason.def").read_text(encoding="utf-8"))
    table = "".join(f"| `{code}` | {kind} | {joined(text)} |\n" for code, kind, text in rows)
    start = old.index(HEAD) + len(HEAD)
    new = old[:start] + table + re.sub(r"\A(\|.*\n)*", "", old[start:])
    if "--check" not in sys.argv:
        page.write_text(new, encoding="utf-8")
    elif new != old:
        print("doc/verdict.md: the table of reasons is not that of src/py/reason.def; run tools/reasons.py")
        return 1
    print(f"reasons: {len(rows)} in doc/verdict.md")
    return 0


sys.exit(main())
