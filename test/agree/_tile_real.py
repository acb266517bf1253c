"""What real Triton says about a kernel under a signature: its front end run to its IR, for
sm_90, on a machine without a GPU."""
import contextlib
import hashlib
import importlib.util
import json
import os
import re
import signal
import sys
import warnings

import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton.compiler.errors import CompilationError

warnings.filterwarnings("ignore")
LIMIT = 30
TARGET = GPUTarget("cuda", 90, 32)
BACKEND = make_backend(TARGET)
OPTIONS = BACKEND.parse_options({})
TYPE = re.compile(r"^\*?k?(i1|u1|[iu](8|16|32|64)|fp16|bf16|fp32|fp64|fp8\w+)$")
_modules = {}


def split_items(text):
    """Cut at commas outside brackets and quotes."""
    out, depth, quote, last = [], 0, None, 0
    for i, ch in enumerate(text):
        if quote:
            quote = None if ch == quote else quote
        elif ch in "'\"":
            quote = ch
        elif ch in "([":
            depth += 1
        elif ch in ")]":
            depth -= 1
        elif ch == "," and not depth:
            out.append(text[last:i])
            last = i + 1
    out.append(text[last:])
    return [x.strip() for x in out if x.strip()]


def load(path):
    path = str(path)
    if path not in _modules:
        name = f"tile_case_{len(_modules)}"
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        _modules[path] = module
    return _modules[path]


def unwrap(fn):
    while not isinstance(fn, triton.JITFunction) and hasattr(fn, "fn"):
        fn = fn.fn
    return fn


def bind(fn, module, text):
    """Signature text to Triton's signature and constants."""
    given = dict(x.split("=", 1) for x in split_items(text))
    given = {k.strip(): v.strip() for k, v in given.items()}
    signature, constants = {}, {}
    for p in fn.params:
        if p.name in given:
            v = given[p.name]
            if TYPE.match(v):
                signature[p.name] = v
                continue
            value = getattr(module, v) if v.isidentifier() and hasattr(module, v) else eval(v, {"tl": tl, "inf": float("inf"), "nan": float("nan")})
        elif p.has_default:
            value = p.default
        else:
            raise KeyError(f"the signature does not name {p.name}")
        if isinstance(value, float) and not p.is_constexpr:
            signature[p.name] = "fp32"
        elif isinstance(value, int) and not isinstance(value, bool) and value != 1 and not p.is_constexpr and p.name not in given:
            signature[p.name] = "i32"
        elif isinstance(value, bool) and not p.is_constexpr and p.name not in given:
            signature[p.name] = "u1"
        else:
            signature[p.name] = "constexpr"
            constants[p.name] = value
    return signature, constants


def place(error, path):
    """The line in the case's file of the innermost error that is in it, and the words."""
    line, text, e = None, None, error
    while e is not None:
        if isinstance(e, CompilationError):
            node = getattr(e, "node", None)
            fn = SOURCES.get(e.src)
            if node is not None and hasattr(node, "lineno") and fn is not None and fn[0] == str(path):
                line = fn[1] + node.lineno - 1
            text = e.error_message or text
        else:
            text = str(e) or text
        e = e.__cause__
    return line, text


SOURCES = {}


def remember(module, path):
    for v in vars(module).values():
        fn = unwrap(v)
        if isinstance(fn, triton.JITFunction) and fn.__module__ == module.__name__:
            begin = fn.starting_line_number
            for i, l in enumerate(fn.raw_src):
                if l.strip().startswith("def "):
                    begin += i
                    break
            SOURCES[fn.src] = (str(path), begin)


STORE = re.compile(r"\btt\.store .* : (.*)$")
DOT = re.compile(r"\btt\.dot .* : (tensor<[^>]*>) \* (tensor<[^>]*>) ->")
DESC = re.compile(r"\btt\.descriptor_store .* : [^,]*, (tensor<[^>]*>)$")


def pointee(t):
    """The type of the value behind a pointer, or a tensor of pointers."""
    t = t.strip()
    if t.startswith("!tt.ptr<"):
        return t[len("!tt.ptr<"):-1].split(", ")[0]
    m = re.match(r"tensor<([0-9x]*)!tt\.ptr<([^>,]*).*>>$", t)
    return f"tensor<{m.group(1)}{m.group(2)}>" if m else t


def types_of(module_text):
    out = []
    for line in module_text.splitlines():
        line = re.sub(r" loc\(.*$", "", line)
        m = STORE.search(line)
        if m:
            out.append("store " + pointee(m.group(1)))
        m = DESC.search(line)
        if m:
            out.append("store " + m.group(1))
        m = DOT.search(line)
        if m:
            out += ["dot " + m.group(1), "dot " + m.group(2)]
    return out


class Memory:
    """Answers kept on disk, so that a second comparison only runs one side."""

    def __init__(self, path):
        self.path, self.known = path, {}
        try:
            with open(path) as f:
                for line in f:
                    key, answer = json.loads(line)
                    self.known[key] = answer
        except FileNotFoundError:
            pass
        self.out = open(path, "a")

    def check(self, case):
        with open(case.path, "rb") as f:
            key = hashlib.sha1(b"\0".join((f.read(), case.kernel.encode(), case.signature.encode()))).hexdigest()
        if key not in self.known:
            self.known[key] = check(case)
            self.out.write(json.dumps((key, self.known[key])) + "\n")
            self.out.flush()
        return self.known[key]


@contextlib.contextmanager
def quiet():
    """The verifier of the IR prints whole modules; nobody reads them here."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved, null = [os.dup(1), os.dup(2)], os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        for fd, old in zip((1, 2), saved):
            os.dup2(old, fd)
            os.close(old)
        os.close(null)


class TooLong(BaseException):
    pass


def too_long(*_):
    raise TooLong


def check(case):
    """Within a time limit; {"accept": None} when Triton itself takes too long."""
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LIMIT)
    try:
        with quiet():
            return answer(case)
    except TooLong:
        return {"accept": None, "line": None, "text": "", "types": []}
    finally:
        signal.alarm(0)


def answer(case):
    try:
        module = load(case.path)
        remember(module, case.path)
        fn = unwrap(getattr(module, case.kernel))
        signature, constants = bind(fn, module, case.signature)
    except Exception as e:  # Triton never saw it: the file does not load, or the signature does not fit
        return {"accept": None, "line": None, "text": f"{type(e).__name__}: {e}", "types": []}
    context = ir.context()
    ir.load_dialects(context)
    BACKEND.load_dialects(context)
    try:
        fn.hash = None
        fn.cache_key
        src = ASTSource(fn, signature, constants, {})
        mod = src.make_ir(TARGET, OPTIONS, BACKEND.get_codegen_implementation(OPTIONS), BACKEND.get_module_map(), context)
        return {"accept": True, "line": None, "text": "", "types": types_of(str(mod))}
    except BaseException as e:
        if isinstance(e, (KeyboardInterrupt, SystemExit, TooLong)):
            raise
        line, text = place(e, case.path)
        return {"accept": False, "line": line, "text": text, "types": []}
