"""Module classes of public repositories, each with what it needs in one self-contained source:
for cover_host.py. Definitions of the same file and of other files of the repository are copied
in; imports of libraries the host engine knows stay; other imports are left out, so that their
names are missing where they are used."""
import ast
import builtins
import os

KNOWN = {"torch", "math", "typing", "typing_extensions", "functools", "itertools", "collections", "copy", "enum", "abc", "dataclasses", "einops",
         "numpy", "random", "warnings", "logging", "operator", "numbers", "contextlib", "types", "string", "re", "__future__"}
ROOTS = {"nn.Module", "Module", "torch.nn.Module", "nn.modules.Module", "nn.Sequential", "torch.nn.Sequential", "nn.ModuleList", "nn.Linear", "nn.Conv1d",
         "nn.Conv2d", "nn.Conv3d", "nn.LayerNorm", "nn.BatchNorm2d", "nn.GroupNorm", "nn.Embedding", "nn.Dropout", "nn.MultiheadAttention"}


def names_in(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


class Strip(ast.NodeTransformer):
    """Without docstrings, and without annotations and decorators that use unresolved names."""

    def __init__(self, missing):
        self.missing = missing

    def function(self, node):
        self.generic_visit(node)
        self.body(node)
        node.decorator_list = [d for d in node.decorator_list if not names_in(d) & self.missing]
        if node.returns and names_in(node.returns) & self.missing:
            node.returns = None
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = function

    def body(self, node):
        if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant) and isinstance(node.body[0].value.value, str):
            node.body = node.body[1:] or [ast.Pass()]

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        self.body(node)
        node.decorator_list = [d for d in node.decorator_list if not names_in(d) & self.missing]
        return node

    def visit_arg(self, node):
        if node.annotation and names_in(node.annotation) & self.missing:
            node.annotation = None
        return node

    def visit_AnnAssign(self, node):
        if names_in(node.annotation) & self.missing:
            node.annotation = ast.copy_location(ast.Constant(None), node.annotation)
        return node


class File:
    """Top-level names of one file: definitions, imports of known libraries, imports from the repository."""

    def __init__(self, repo, path):
        self.repo, self.path = repo, path
        with open(path, encoding="utf-8", errors="replace") as f:
            self.tree = ast.parse(f.read())
        self.defs, self.libs, self.local, self.stars = {}, {}, {}, []
        for s in self.tree.body:
            self.statement(s)

    def statement(self, s):
        if isinstance(s, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            self.defs[s.name] = s
        elif isinstance(s, ast.Assign):
            for t in s.targets:
                for n in ast.walk(t):
                    if isinstance(n, ast.Name):
                        self.defs[n.id] = s
        elif isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and s.value:
            self.defs[s.target.id] = s
        elif isinstance(s, ast.Import):
            for a in s.names:
                if a.name.split(".")[0] in KNOWN:
                    self.libs[a.asname or a.name.split(".")[0]] = f"import {a.name}" + (f" as {a.asname}" if a.asname else "")
        elif isinstance(s, ast.ImportFrom):
            self.import_from(s)
        elif isinstance(s, ast.Try):
            for x in s.body:
                self.statement(x)

    def import_from(self, s):
        known = not s.level and (s.module or "").split(".")[0] in KNOWN
        for a in s.names:
            if known and a.name != "*":
                self.libs[a.asname or a.name] = f"from {s.module} import {a.name}" + (f" as {a.asname}" if a.asname else "")
            elif a.name == "*" and not known:
                self.stars.append((s.level, s.module or ""))
            elif not known:
                self.local[a.asname or a.name] = (s.level, s.module or "", a.name)


class Repo:
    def __init__(self, folder):
        self.folder, self.files = folder, {}
        self.paths = [os.path.join(d, f) for d, _, names in os.walk(folder) for f in names if f.endswith(".py")]

    def file(self, path):
        if path not in self.files:
            try:
                self.files[path] = File(self, path)
            except (OSError, SyntaxError, ValueError, RecursionError):
                self.files[path] = None
        return self.files[path]

    def find(self, origin, level, module):
        """The file that `from ..module import` of `origin` means; by its ending for absolute ones."""
        tail = module.replace(".", "/")
        if level:
            base = os.path.dirname(origin.path)
            for _ in range(level - 1):
                base = os.path.dirname(base)
            options = [os.path.join(base, tail + ".py"), os.path.join(base, tail, "__init__.py")]
            return next((self.file(o) for o in options if os.path.exists(o)), None)
        for ending in ("/" + tail + ".py", "/" + tail + "/__init__.py"):
            hits = [p for p in self.paths if p.endswith(ending)]
            if tail and hits:
                return self.file(min(hits, key=len))
        return None


class Snippet:
    """The source of one class with everything it uses."""

    def __init__(self):
        self.imports, self.parts, self.owner, self.missing = {}, [], {}, set()
        self.renamed = []

    def need(self, f, name, depth=0):
        if depth > 40 or hasattr(builtins, name):
            return
        if name in f.defs:
            self.define(f, name, depth)
        elif name in f.libs:
            self.imports.setdefault(name, f.libs[name])
        elif name in f.local:
            level, module, original = f.local[name]
            other = f.repo.find(f, level, module)
            if other and (original in other.defs or original in other.local or other.stars):
                self.need(other, original, depth + 1)
                if name != original and self.owner.get(original):
                    self.renamed.append(f"{name} = {original}")
            else:
                self.missing.add(name)
        else:
            for level, module in f.stars:
                other = f.repo.find(f, level, module)
                if other and other is not f and name in other.defs:
                    return self.need(other, name, depth + 1)
            self.missing.add(name)

    def define(self, f, name, depth):
        node = f.defs[name]
        if name in self.owner:           # of two of one name the first is taken: both sides run the same
            return
        self.owner[name] = node
        for used in sorted(names_in(node)):
            if used != name:
                self.need(f, used, depth + 1)
        if node not in self.parts:
            self.parts.append(node)

    def text(self):
        future = [v for v in self.imports.values() if "__future__" in v]
        plain = sorted(v for v in self.imports.values() if "__future__" not in v)
        nodes = [ast.unparse(Strip(self.missing).visit(ast.parse(ast.unparse(p)).body[0])) for p in self.parts]
        return "\n".join(future + plain + [""] + nodes + self.renamed) + "\n"


def is_module(f, node, depth=0):
    """Does a class derive from one of torch's modules, as far as the repository shows it?"""
    for b in node.bases:
        text = ast.unparse(b)
        if text in ROOTS:
            return True
        if isinstance(b, ast.Name) and depth < 8:
            other, name = f, b.id
            if name in f.local:
                level, module, name = f.local[b.id]
                other = f.repo.find(f, level, module)
            if other and isinstance(other.defs.get(name), ast.ClassDef) and other.defs[name] is not node and is_module(other, other.defs[name], depth + 1):
                return True
    return False


def mentions_module(path):
    try:
        with open(path, "rb") as f:
            return b"Module" in f.read()
    except OSError:
        return False


def classes(folder):
    """(label, class name, self-contained source) of each module class with a forward of the folder."""
    repo = Repo(folder)
    for path in sorted(repo.paths):
        f = repo.file(path) if mentions_module(path) else None
        for name, node in (f.defs.items() if f else ()):
            if isinstance(node, ast.ClassDef) and is_module(f, node):
                s = Snippet()
                try:
                    s.need(f, name)
                    text = s.text()
                except RecursionError:
                    continue
                if len(text) < 200000:
                    yield os.path.relpath(path, folder), name, text
