"""Cases for comparing front ends: the committed kernels, kernels harvested from other people's
source (made self-contained in a scratch folder), and mutants of both."""
import ast
import copy
import hashlib
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

HEAD = "import math\nimport triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n\n"


@dataclass
class Case:
    path: str
    kernel: str
    signature: str
    mutant: str = ""
    origin: str = ""


# Committed kernels whose values have no one answer (an address): compared in type and verdict.
NO_ONE_VALUE = {"pointer_to_int"}


def is_jit(node):
    for d in node.decorator_list:
        f = d.func if isinstance(d, ast.Call) else d
        name = f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")
        if name == "jit":
            return True
    return False


def committed(folder):
    """Each `# signature:` comment above a kernel is a case."""
    cases = []
    for path in sorted(folder.rglob("*.py")):
        pending = []
        for line in path.read_text().splitlines():
            m = re.match(r"#\s*signature:\s*(.*)$", line)
            if m:
                pending.append(m.group(1).strip())
            m = re.match(r"def\s+(\w+)", line)
            if m and pending:
                cases += [Case(str(path), m.group(1), s, origin=path.name) for s in pending]
                pending = []
            elif not line.strip() or not (line.startswith("#") or line.startswith("@") or m):
                pending = []
    return cases


# --- harvesting ------------------------------------------------------------------------------

class Source:
    """One file of a library: its jit functions and the constants they may name."""

    def __init__(self, path):
        self.path = path
        self.functions, self.constants, self.imports, self.nested = {}, {}, {}, []
        tree = ast.parse(path.read_text())
        for n in ast.walk(tree):
            if isinstance(n, ast.FunctionDef) and is_jit(n):
                if n.name in self.functions:
                    self.nested.append(n)
                else:
                    self.functions[n.name] = n
            elif isinstance(n, ast.ImportFrom):
                for a in n.names:
                    self.imports[a.asname or a.name] = (n.module or "", n.level, a.name)
        for n in tree.body:
            if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name):
                self.constants[n.targets[0].id] = n


class Library:
    def __init__(self, root):
        self.root, self.sources = root, {}

    def source(self, path):
        if path not in self.sources:
            try:
                self.sources[path] = Source(path)
            except (SyntaxError, UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
                self.sources[path] = None
        return self.sources[path]

    def resolve(self, src, name):
        """A function or constant that `name` means in `src`, following imports in the library."""
        for _ in range(6):
            if name in src.functions:
                return src.functions[name], src
            if name in src.constants:
                return src.constants[name], src
            if name not in src.imports:
                return None, None
            module, level, real = src.imports[name]
            nxt = self.find(src, module, level, real)
            if nxt is None:
                return None, None
            src, name = nxt, real
        return None, None

    def find(self, src, module, level, name):
        bases = []
        if level:
            base = src.path.parent
            for _ in range(level - 1):
                base = base.parent
            bases.append(base.joinpath(*module.split(".")) if module else base)
        else:
            parts = module.split(".")
            up = src.path.parent
            while True:
                bases.append(up.joinpath(*parts))
                if up == self.root or up == up.parent:
                    break
                up = up.parent
        for b in bases:
            for candidate in (b.with_suffix(".py"), b / "__init__.py", b / f"{name}.py"):
                if candidate.is_file():
                    s = self.source(candidate)
                    if s and (name in s.functions or name in s.constants or name in s.imports):
                        return s
        return None


def names_in(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


SAFE_CALLS = {"constexpr", "pointer_type", "float", "int", "len", "min", "max"}


def is_plain(node):
    """A constant's value that can stand alone: literals, tl names, arithmetic."""
    for n in ast.walk(node):
        if isinstance(n, ast.Call):
            f = n.func
            if (f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")) not in SAFE_CALLS:
                return False
        elif isinstance(n, (ast.Lambda, ast.Subscript, ast.ListComp, ast.Dict, ast.JoinedStr, ast.IfExp, ast.Compare)):
            return False
        elif isinstance(n, ast.Name) and n.id not in SAFE_CALLS | {"tl", "math", "triton"}:
            return False
    return True


def flatten(lib, src, fn):
    """Source text with the kernel, its helpers and constants, in an order that defines before use."""
    parts, done = [], set()

    def add(node, home):
        if id(node) in done:
            return
        done.add(id(node))
        for name in sorted(names_in(node)):
            found, where = lib.resolve(home, name)
            if found is not None and found is not node:
                add(found, where)
        node = copy.deepcopy(node)
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [ast.parse("triton.jit").body[0].value]
            parts.append(ast.unparse(node))
        elif is_plain(node.value):
            parts.append(ast.unparse(node))

    add(fn, src)
    return HEAD + "\n\n".join(parts) + "\n"


# --- guessing signatures -------------------------------------------------------------------------

ADDRESS = {"load", "store", "make_block_ptr", "make_tensor_descriptor"}


def leftmost(n):
    while True:
        if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Add, ast.Sub)):
            n = n.left
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in ("to", "cast"):
            n = n.func.value
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in ("multiple_of", "max_contiguous") and n.args:
            n = n.args[0]
        else:
            return n.id if isinstance(n, ast.Name) else None


def pointers(fn, helpers, seen=()):
    params = [a.arg for a in fn.args.args]
    alias, out = {}, set()
    for n in ast.walk(fn):
        if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name):
            alias.setdefault(n.targets[0].id, set()).add(leftmost(n.value))

    def reach(name, depth=0):
        if name in params:
            out.add(name)
        if depth < 5:
            for nxt in alias.get(name, ()):
                if nxt and nxt != name:
                    reach(nxt, depth + 1)

    for n in ast.walk(fn):
        if not isinstance(n, ast.Call):
            continue
        f = n.func
        name = f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", None)
        if name in ADDRESS or (name or "").startswith("atomic_"):
            first = n.args[0] if n.args else next((k.value for k in n.keywords if k.arg in ("pointer", "base")), None)
            if first is not None and leftmost(first):
                reach(leftmost(first))
        if isinstance(f, ast.Name) and f.id in helpers and f.id not in seen and len(seen) < 4:
            inner = pointers(helpers[f.id], helpers, (*seen, f.id))
            names = [a.arg for a in helpers[f.id].args.args]
            for i, a in enumerate(n.args):
                if i < len(names) and names[i] in inner and leftmost(a):
                    reach(leftmost(a))
            for k in n.keywords:
                if k.arg in inner and leftmost(k.value):
                    reach(leftmost(k.value))
    return out


FLOATS = re.compile(r"(^|_)(eps|alpha|beta|scale|slope|momentum|p|prob|lam|softcap|lr|gamma|value|factor|bound|threshold)$|eps|scale", re.I)
FLAGS = re.compile(r"^(has|is|use|store|with|save|head_first|causal|apply|reverse|even|output|return|do|enable|need|training|inplace|bias)_|^[A-Z_]*(CAUSAL|BIAS|REVERSE|VARLEN|HEAD_FIRST|EVEN|MASK|FLAG)", re.I)
TYPES = re.compile(r"dtype|_type$|TYPE", re.I)


def guesses(fn, helpers, dtype):
    """Signatures to try, most likely first."""
    ptr = pointers(fn, helpers)
    args = fn.args.args
    defaults = dict(zip([a.arg for a in args][len(args) - len(fn.args.defaults):], fn.args.defaults))
    consts, fixed = [], []
    for a in args:
        text = ast.unparse(a.annotation) if a.annotation else ""
        if "constexpr" in text:
            if a.arg in defaults and isinstance(defaults[a.arg], ast.Constant) and defaults[a.arg].value is not None:
                fixed.append(f"{a.arg}={defaults[a.arg].value!r}")
            else:
                consts.append(a.arg)
        elif a.arg in ptr or re.search(r"(_ptr|_ptrs)$", a.arg):
            kind = "*i32" if re.search(r"idx|ind(ex|ices)|offset|cu_seq|label|target|len", a.arg, re.I) else f"*{dtype}"
            fixed.append(f"{a.arg}={kind}")
        elif a.arg in defaults and isinstance(defaults[a.arg], ast.Constant):
            v = defaults[a.arg].value
            fixed.append(f"{a.arg}=fp32" if isinstance(v, float) else f"{a.arg}=i32" if isinstance(v, int) and not isinstance(v, bool) else f"{a.arg}={v!r}")
        else:
            fixed.append(f"{a.arg}=fp32" if FLOATS.search(a.arg) else f"{a.arg}=i32")
    for flag, size in ((False, 64), (True, 64), (True, 16)):
        guess = []
        for c in consts:
            if TYPES.search(c):
                guess.append(f"{c}=tl.float32")
            elif FLAGS.search(c):
                guess.append(f"{c}={flag}")
            elif re.search(r"num|warps|group|stages|ndim|rank|^[A-Z]$", c, re.I) and not re.search("block", c, re.I):
                guess.append(f"{c}={16 if size > 1 else 2}")
            else:
                guess.append(f"{c}={size if size > 1 else 32}")
        yield ", ".join(fixed + guess)
        if not consts:
            return


def harvest(folder, tmp, check, most, rng):
    """Every jit function under `folder`, self-contained, in up to three dtypes, each under the
    first guessed signature that Triton accepts (or the first, where it accepts none)."""
    cases, lib = [], Library(folder)
    seen = set()
    found = []
    for path in sorted(folder.rglob("*.py")):
        src = lib.source(path)
        if src is not None:
            found += [(path, src, fn) for fn in list(src.functions.values()) + src.nested]
    if most and len(found) > most:
        found = rng.sample(found, most)
    for path, src, fn in found:
        try:
            text = flatten(lib, src, fn)
            tree = ast.parse(text)
        except (RecursionError, SyntaxError):
            continue
        key = hashlib.sha1(text.encode()).hexdigest()[:16]
        if key in seen:
            continue
        seen.add(key)
        out = tmp / f"{path.stem}_{fn.name}_{key}.py"
        out.write_text(text)
        helpers = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
        me = [n for n in tree.body if isinstance(n, ast.FunctionDef)][-1]
        best = None
        for sig in itertools.islice(guesses(me, helpers, "fp32"), 3):
            case = Case(str(out), fn.name, sig, origin=str(path.relative_to(folder)))
            best = best or case
            if check(case)["accept"]:
                best = case
                break
        cases.append(best)
        if "*fp32" in best.signature:
            cases += [Case(best.path, best.kernel, best.signature.replace("*fp32", "*" + d), origin=best.origin) for d in ("fp16", "bf16")]
    return cases


# --- mutants -------------------------------------------------------------------------------------

INVENTED = ["tanh", "pow", "relu", "any", "clip", "mean", "transpose", "log1p", "round", "concatenate", "thread_id", "sync"]


def kernel_of(tree, name):
    return next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)


def pick(rng, items):
    return rng.choice(items) if items else None


def m_rename_tl(fn, rng):
    n = pick(rng, [n for n in ast.walk(fn) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "tl" and n.attr != "constexpr"])
    if n is None:
        return None
    old, n.attr = n.attr, rng.choice(INVENTED)
    return f"tl.{old} -> tl.{n.attr}"


def m_rename_use(fn, rng):
    n = pick(rng, [n for n in ast.walk(fn) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id not in ("tl", "triton", "libdevice", "math")])
    if n is None:
        return None
    old = n.id
    others = sorted({m.id for m in ast.walk(fn) if isinstance(m, ast.Name)} - {old, "tl", "triton", "libdevice", "math"})
    n.id = rng.choice(others) if others and rng.random() < 0.7 else old + "_"
    return f"{old} -> {n.id}"


def m_drop_keyword(fn, rng):
    n = pick(rng, [n for n in ast.walk(fn) if isinstance(n, ast.Call) and n.keywords])
    if n is None:
        return None
    k = rng.choice(n.keywords)
    if rng.random() < 0.5:
        n.keywords.remove(k)
        return f"{k.arg} dropped"
    old, k.arg = k.arg, {"mask": "masks", "other": "otherwise", "axis": "dim", "dtype": "type", "keep_dims": "keepdim"}.get(k.arg, (k.arg or "") + "s")
    return f"keyword {old} -> {k.arg}"


def m_drop_argument(fn, rng):
    n = pick(rng, [n for n in ast.walk(fn) if isinstance(n, ast.Call) and n.args])
    if n is None:
        return None
    i = rng.randrange(len(n.args))
    gone = ast.unparse(n.args.pop(i))
    return f"argument {gone} dropped"


def m_constant(fn, rng):
    n = pick(rng, [n for n in ast.walk(fn) if isinstance(n, ast.Constant) and isinstance(n.value, (int, float)) and not isinstance(n.value, bool)])
    if n is None:
        return None
    old = n.value
    n.value = rng.choice([3, 2.5, -1, 7, 1.0, 100]) if isinstance(old, int) else rng.choice([2, 0, -3])
    return f"{old} -> {n.value}"


def m_operator(fn, rng):
    n = pick(rng, [n for n in ast.walk(fn) if isinstance(n, ast.BinOp)])
    if n is None:
        return None
    old = type(n.op).__name__
    n.op = rng.choice([ast.FloorDiv(), ast.Mod(), ast.BitAnd(), ast.Pow(), ast.MatMult(), ast.LShift(), ast.Div(), ast.Mult()])
    return f"{old} -> {type(n.op).__name__}"


def m_index(fn, rng):
    n = pick(rng, [n for n in ast.walk(fn) if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Tuple)])
    if n is None:
        return None
    old = ast.unparse(n)
    n.slice = rng.choice([ast.Constant(0), ast.Constant(None), n.slice.elts[0], ast.Tuple(n.slice.elts[::-1], ast.Load())])
    return f"{old} -> {ast.unparse(n)}"


def m_drop_cast(fn, rng):
    calls = [n for n in ast.walk(fn) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "to" and n.args]
    n = pick(rng, calls)
    if n is None:
        return None
    n.args[0] = ast.parse(rng.choice(["tl.int32", "tl.float16", "tl.int1", "tl.float64", "tl.bfloat16", "tl.uint8", "tl.float32"])).body[0].value
    return f"cast to {ast.unparse(n.args[0])}"


def m_drop_statement(fn, rng):
    bodies = [n.body for n in ast.walk(fn) if hasattr(n, "body") and isinstance(n.body, list) and len(n.body) > 1]
    body = pick(rng, bodies)
    if not body:
        return None
    i = rng.randrange(len(body))
    gone = ast.unparse(body.pop(i)).splitlines()[0]
    return f"dropped: {gone}"


def m_insert(fn, rng):
    bodies = [n.body for n in ast.walk(fn) if hasattr(n, "body") and isinstance(n.body, list)]
    body = rng.choice(bodies)
    names = sorted({m.id for m in ast.walk(fn) if isinstance(m, ast.Name) and isinstance(m.ctx, ast.Store)}) or ["q"]
    v = rng.choice(names)
    text = rng.choice([f"{v} = {v} + 1.5", f"{v} = tl.zeros((16,), tl.float32)", f"{v} = {v}[0]", "break", "continue", f"{v} = {v}.to(tl.float16)",
                       f"if {v} > 0:\n    {v} = {v} * 2", f"{v} = None", f"{v} = 1 < {v} < 3", f"{v} = lambda x: x", f"{v} = tl.sum({v}, axis=0)",
                       f"assert {v} > 0", f"{v} = {v} and True", f"{v} = not {v}", f"{v} = -{v}", f"for _i in range(4):\n    {v} += 1",
                       f"{v} = tl.where({v} > 0, {v}, 0.0)", f"{v}: tl.constexpr = 4", f"{v} = max({v}, 0)", f"{v} = tl.maximum({v}, 0.0)"])
    body.insert(rng.randrange(len(body) + 1), ast.parse(text).body[0])
    return f"inserted: {text.splitlines()[0]}"


def m_axis(fn, rng):
    n = pick(rng, [k for n in ast.walk(fn) if isinstance(n, ast.Call) for k in n.keywords if k.arg in ("axis", "dim")])
    if n is None:
        return None
    n.value = rng.choice([ast.Constant(v) for v in (0, 1, 2, 3, -1, None)])
    return f"axis {ast.unparse(n.value)}"


TREE = [m_rename_tl, m_rename_use, m_rename_use, m_drop_keyword, m_drop_argument, m_constant, m_operator, m_index, m_drop_cast, m_drop_statement, m_insert, m_insert, m_axis]


def m_signature(sig, rng):
    from _tile_real import split_items
    items = split_items(sig)
    i = rng.randrange(len(items))
    name, value = items[i].split("=", 1)
    if value.startswith("*"):
        new = "*" + rng.choice(["fp16", "bf16", "fp32", "fp64", "i32", "i8", "u8", "i64", "i1", "fp8e5", "kfp32"])
    elif re.match(r"^-?\d+$", value):
        new = rng.choice(["3", "100", "16", "8", "256", "0", "None", "1", "2.5", "True", "i32", "2048"])
    elif value in ("True", "False"):
        new = "False" if value == "True" else "True"
    else:
        new = rng.choice(["i64", "fp32", "i32", "1", "u32", "fp16", "None", "*fp32"])
    items[i] = f"{name}={new}"
    return ", ".join(items), f"{name}: {value} -> {new}"


def mutants(case, tmp, count, rng):
    out = []
    text = Path(case.path).read_text()
    for k in range(count):
        if case.signature and rng.random() < 0.3:
            sig, what = m_signature(case.signature, rng)
            out.append(Case(case.path, case.kernel, sig, what, case.origin))
            continue
        tree = ast.parse(text)
        what = rng.choice(TREE)(kernel_of(tree, case.kernel), rng)
        if what is None:
            continue
        try:
            new = ast.unparse(ast.fix_missing_locations(tree))
            ast.parse(new)
        except (SyntaxError, ValueError, AttributeError):
            continue
        path = tmp / f"m{hashlib.sha1((new + case.signature).encode()).hexdigest()[:16]}.py"
        path.write_text(new + "\n")
        out.append(Case(str(path), case.kernel, case.signature, what, case.origin))
    return out
