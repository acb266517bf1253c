#!/usr/bin/env python3
"""Writes the Unicode tables of src/py from Python's own unicodedata. Run with CPython 3.11
(Unicode 14): python3.11 tools/unicode_tables.py src/py"""
import sys, unicodedata

def ranges(test):
    out, start = [], None
    for c in range(0x110001):
        yes = c < 0x110000 and test(c)
        if yes and start is None:
            start = c
        elif not yes and start is not None:
            out.append((start, c - 1))
            start = None
    return out

def write(path, what, macro, rows):
    with open(path, "w") as f:
        f.write("/* %s, Unicode %s. Made by tools/unicode_tables.py. */\n" % (what, unicodedata.unidata_version))
        line = ""
        for row in rows:
            item = "%s(%s)" % (macro, ",".join("0x%X" % v for v in row))
            if len(line) + len(item) > 118:
                f.write(line.rstrip() + "\n")
                line = ""
            line += item + " "
        f.write(line.rstrip() + "\n")

def main(folder):
    write(folder + "/uni_start.def", "Ranges of characters that can begin an identifier", "R",
          ranges(lambda c: c >= 128 and chr(c).isidentifier()))
    write(folder + "/uni_continue.def", "Ranges of characters that can stand in an identifier", "R",
          ranges(lambda c: c >= 128 and ("a" + chr(c)).isidentifier()))
    write(folder + "/uni_print.def", "Ranges of printable characters", "R",
          ranges(lambda c: c >= 128 and chr(c).isprintable()))

main(sys.argv[1])
