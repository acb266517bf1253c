#!/usr/bin/env python3
"""The layer check: reads the levels of tools/layers.txt and every #include "..." under src, and
fails on an include that goes up, or sideways to another folder of the same level.

A folder with rows for subfolders ("6.2 verify/candidate") has an order inside: its subfolders
obey the same rule among each other, and the files directly in it are below all of them. Seen from
other folders it is one folder of one level."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
SUFFIXES = (".c", ".h", ".def", ".inc", ".cu", ".cuh")


def read_levels():
    """Folder or folder/subfolder -> level, as a tuple of numbers."""
    levels = {}
    for line in (ROOT / "tools/layers.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            levels[words[1]] = tuple(int(n) for n in words[0].split("."))
    return levels


def place_of(parts, levels):
    """The folder of a file and its subfolder ("" for a file directly in the folder); None: the file
    is in a subfolder without a row, in a folder whose other subfolders have rows."""
    folder, subfolder = parts[0], "/".join(parts[:2]) if len(parts) > 2 else ""
    if subfolder in levels or not subfolder:
        return folder, subfolder
    ordered = any(name.startswith(folder + "/") for name in levels)
    return None if ordered else (folder, "")


def may_include(levels, here, there):
    """Whether a file of one place may include a file of another."""
    if here[0] != there[0]:
        return levels[there[0]] < levels[here[0]]
    if here[1] == there[1] or not there[1]:
        return True
    return bool(here[1]) and levels[there[1]] < levels[here[1]]


def label(levels, place):
    name = place[1] or place[0]
    return f"{name} (level {'.'.join(map(str, levels[name]))})"


def faults(levels):
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in SUFFIXES:
            continue
        name = path.relative_to(ROOT)
        parts = path.relative_to(ROOT / "src").parts
        here = place_of(parts, levels)
        if here is None or here[0] not in levels:
            yield f"{name}: folder '{'/'.join(parts[:-1])}' is not in tools/layers.txt"
            continue
        for target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            there = place_of(tuple(target.split("/")), levels)
            if "/" not in target:
                yield f'{name}: #include "{target}" must name its folder'
            elif not (ROOT / "src" / target).exists():
                yield f'{name}: #include "{target}" is not a file of src'
            elif there is None or there[0] not in levels:
                yield f"{name}: includes {target}, whose folder is not in tools/layers.txt"
            elif not may_include(levels, here, there):
                yield f"{name}: {label(levels, here)} includes {target} of {label(levels, there)}"


def main():
    levels = read_levels()
    found = list(faults(levels))
    print("\n".join(found + [f"layers: {len(levels)} folders, {len(found)} faults"]))
    return 1 if found else 0


sys.exit(main())
