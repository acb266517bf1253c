#!/usr/bin/env python3
"""The name check. Fails on
 - a struct, union or enum tag, or an enumerator, that a header of src defines and another file of
   src defines too: one word, one meaning;
 - two sources of src with one file name, commands aside: a file is named after what it holds;
 - a comment of src, test or bench that names a source file which is not there;
 - a function that a header of src declares and no code of src uses, unless tools/names.txt lists
   it as kept for tests."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = (".c", ".h", ".def", ".cu", ".cuh", ".cpp", ".inc")
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
ENUM = re.compile(r"\benum\b\s*\w*\s*\{([^}]*)\}")
FILE = re.compile(r"(?<![\w./<-])((?:[a-z]\w*/)*[a-z]\w*(?:\.simd)?\.(?:c|h|def|cu|cuh|cpp|inc|sql))\b(?![\w(/-]|\.\w)")
PROTOTYPE = re.compile(r"^(?!static|typedef|return|else)[a-z][\w \t*]*?[ *](\w+)\((?!\*)[^;{}]*\)[^;{}()]*(?:\([^()]*\))?;", re.M)
WORD = re.compile(r"\w+")
PASTE = re.compile(r"\b(\w+)##")


def bare(text):
    """The code without comments and strings, line by line where it was."""
    return COMMENT.sub(lambda m: "\n" * m[0].count("\n") if m[0][0] == "/" else '""', text)


def comments(text):
    return [m[0] for m in COMMENT.finditer(text) if m[0][0] == "/"]


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in CODE:
                yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def listed():
    """Functions kept for tests alone: `name reason` a line."""
    lines = (line.split("#")[0].split(None, 1) for line in (ROOT / "tools/names.txt").read_text().splitlines())
    return {words[0] for words in lines if words}


def defined(code):
    names = set(TAG.findall(code))
    for body in ENUM.findall(code):
        body = re.sub(r"^\s*#.*$", "", body, flags=re.M)
        names |= {word for word in (part.split("=")[0].strip() for part in body.split(",")) if word.isidentifier()}
    return names


def shared_names(src):
    where = collections.defaultdict(list)
    for name, text in src.items():
        if name.endswith((".cu", ".cuh")):      # another program: the shared object
            continue
        for word in defined(bare(text)):
            where[word].append(name)
    for word, files in sorted(where.items()):
        if len(files) > 1 and any(f.endswith(".h") for f in files):
            yield f"'{word}' is defined in {' and '.join(files)}"


def shared_files(src):
    """One name may stand once in each family of implementations of one interface: src/ops."""
    where = collections.defaultdict(list)
    for name in src:
        if not name.startswith(("src/cmd/", "src/ops/")):
            where[pathlib.Path(name).name].append(name)
    for files in where.values():
        if len(files) > 1:
            yield f"one file name: {' and '.join(files)}"


def lost_files(all_text, known):
    paths, names = set(known), {pathlib.Path(k).name for k in known}
    for name, text in all_text.items():
        for comment in comments(text):
            for word in FILE.findall(comment):
                if word not in names and not any(k.endswith("/" + word) for k in paths):
                    yield f"{name}: a comment names {word}, which is not there"


def unused(src, kept):
    declared = {}
    for name, text in src.items():
        if name.endswith(".h"):
            declared.update({f: name for f in PROTOTYPE.findall(bare(text))})
    uses, pasted = collections.Counter(), set()
    for text in src.values():
        code = bare(text)
        uses.update(WORD.findall(code))
        pasted |= set(PASTE.findall(code))
    for function, header in sorted(declared.items()):
        by_paste = any(function.startswith(p) for p in pasted if len(p) > 2)
        if uses[function] <= 2 and not by_paste and function not in kept:
            yield f"{header}: nothing uses {function}"
    for function in sorted(kept):
        if function not in declared or uses[function] > 2:
            yield f"tools/names.txt: '{function}' is {'used by the program' if function in declared else 'not declared'}"


def main():
    src = dict(sources("src"))
    rest = dict(sources("test", "bench"))
    known = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.suffix in CODE + (".sql", ".py", ".txt", ".sh")]
    found = [*shared_names(src), *shared_files(src), *lost_files({**src, **rest}, known), *unused(src, listed())]
    print("\n".join(found + [f"names: {len(src)} files of src, {len(found)} faults"]))
    return 1 if found else 0


sys.exit(main())
