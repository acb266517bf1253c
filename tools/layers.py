#!/usr/bin/env python3
"""The layer check: reads the levels of tools/layers.txt and every #include "..." under src, and
fails on an include that goes up, or sideways to another folder of the same level."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def read_levels():
    levels = {}
    for line in (ROOT / "tools/layers.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            levels[words[1]] = int(words[0])
    return levels


def faults(levels):
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in (".c", ".h", ".def", ".inc", ".cu", ".cuh"):
            continue
        folder = path.relative_to(ROOT / "src").parts[0]
        name = path.relative_to(ROOT)
        if folder not in levels:
            yield f"{name}: folder '{folder}' is not in tools/layers.txt"
            continue
        for target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            other = target.split("/")[0]
            if "/" not in target:
                yield f'{name}: #include "{target}" must name its folder'
            elif not (ROOT / "src" / target).exists():
                yield f'{name}: #include "{target}" is not a file of src'
            elif other != folder and levels.get(other, 99) >= levels[folder]:
                yield f"{name}: level {levels[folder]} includes {target} of level {levels.get(other)}"


def main():
    levels = read_levels()
    found = list(faults(levels))
    print("\n".join(found + [f"layers: {len(levels)} folders, {len(found)} faults"]))
    return 1 if found else 0


sys.exit(main())
