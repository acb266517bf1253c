"""Compiles kernels with the installed Triton, without a GPU, for the judge of tritonrl.

The judge starts this file and sends requests over a socket: kernels printed from its own syntax
tree, with the values of all names they use (src/verify/candidate/kernel_request.h). Each request is
compiled in a forked child, so that nothing of one kernel reaches the next. No text of a candidate
is executed: defining a function runs nothing but its defaults and annotations, which must be plain
names and constants, and modules that a kernel can see hold names of Triton's language only.

Frames are little-endian. Request: magic, length, JSON. Answer: magic, status, length of the
metadata, length of the code, then both. Status 0: compiled; 1: Triton refuses the kernel (the
metadata is {"message": ...}); 2: this worker cannot compile.
"""
import ast
import importlib
import json
import linecache
import os
import resource
import shutil
import signal
import socket
import struct
import sys
import tempfile
import types

REQUEST, ANSWER = 0x54525131, 0x54525231
COMPILED, REFUSED, UNAVAILABLE = 0, 1, 2
REQUEST_MOST = 4 << 20
# Nodes that a default value or an annotation may consist of: evaluating them runs no code.
PLAIN = (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.USub, ast.UAdd, ast.Not, ast.Invert, ast.Load, ast.Tuple)


class Refused(Exception):
    """The request cannot be compiled, with the reason for the judge."""


def check_source(source, name):
    """Parses one function definition and refuses everything that could run code or reach outside."""
    tree = ast.parse(source)
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef) or tree.body[0].name != name:
        raise Refused("the request is not a single function definition")
    function = tree.body[0]
    if function.decorator_list:
        raise Refused("the function has decorators")
    arguments = function.args
    outside = [arg.annotation for arg in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    outside += arguments.defaults + arguments.kw_defaults + [function.returns]
    for root in filter(None, outside):
        for node in ast.walk(root):
            if not isinstance(node, PLAIN):
                raise Refused("a default value or an annotation is not a plain constant")
    for node in ast.walk(function):
        word = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if word.startswith("_") and (isinstance(node, ast.Attribute) or word.startswith("__")):
            raise Refused(f"the name {word} is not allowed in a kernel")


def is_language(value, tl, jit):
    """Is it something a kernel may see: a builtin of Triton, a jit function, a type, a constant?"""
    if isinstance(value, (jit.JITFunction, tl.dtype, tl.constexpr, int, float, bool, str)):
        return True
    if getattr(value, "__triton_builtin__", False) or type(value).__name__ == "ConstexprFunction":
        return True
    return isinstance(value, type) and value.__module__.startswith("triton.language")


class Language:
    """Modules for kernels: copies of Triton's with nothing in them but its language."""

    def __init__(self):
        import triton
        import triton.language as tl
        from triton.runtime import jit
        self.triton, self.tl, self.jit = triton, tl, jit
        self.copies = {}

    def module(self, dotted):
        if dotted == "triton.language.extra.libdevice":     # the back end's functions behind the stubs
            dotted = "triton.language.extra.cuda.libdevice"
        if dotted in self.copies:
            return self.copies[dotted]
        if dotted != "triton" and not dotted.startswith("triton.language"):
            raise Refused(f"a kernel cannot use the module {dotted}")
        real = importlib.import_module(dotted)
        copy = types.ModuleType(dotted)
        self.copies[dotted] = copy
        for name in dir(real):
            value = getattr(real, name, None)
            if name.startswith("_"):
                continue
            if isinstance(value, types.ModuleType) and value.__name__ == f"{dotted}.{name}" and self.is_public(value):
                setattr(copy, name, self.module(value.__name__))
            elif is_language(value, self.tl, self.jit):
                setattr(copy, name, value)
        if dotted == "triton.language.extra":
            copy.libdevice = self.module("triton.language.extra.libdevice")
        if dotted == "triton":
            copy.language = self.module("triton.language")
            copy.cdiv, copy.next_power_of_2 = self.triton.cdiv, self.triton.next_power_of_2
        return copy

    @staticmethod
    def is_public(module):
        return module.__name__ in ("triton.language", "triton.language.math", "triton.language.extra",
                                   "triton.language.extra.libdevice", "triton.language.extra.cuda",
                                   "triton.language.extra.cuda.libdevice")

    def member(self, dotted):
        owner, _, name = dotted.rpartition(".")
        value = getattr(self.module(owner), name, None)
        if value is None:
            raise Refused(f"Triton has no {dotted}")
        return value


def value_of(entry, functions, language):
    """The Python value of an entry of the request."""
    tl = language.tl
    kind, value = next((k, v) for k, v in entry.items() if k != "constexpr")
    if kind == "none":
        result = None
    elif kind == "float":
        result = float(value)
    elif kind in ("bool", "int", "str"):
        result = value
    elif kind == "dtype":
        result = getattr(tl, {"fp16": "float16", "fp32": "float32", "fp64": "float64", "bf16": "bfloat16"}.get(value, value))
    elif kind == "module":
        return language.module(value)
    elif kind == "member":
        return language.member(value)
    elif kind == "function":
        return functions[value]
    elif kind == "tuple":
        result = tuple(value_of(item, functions, language) for item in value)
    else:
        raise Refused(f"unknown value {kind}")
    return tl.constexpr(result) if entry.get("constexpr") else result


def build(request, language):
    """Defines the functions of a request. Returns the first one, which is the kernel."""
    functions, scopes = [], []
    for number, function in enumerate(request["functions"]):
        name, source = function["name"], function["source"]
        check_source(source, name)
        path = f"<kernel {number} {name}>"
        linecache.cache[path] = (len(source), None, source.splitlines(True), path)
        scope = {"__name__": "kernels", "__builtins__": {}, "tl": language.module("triton.language")}
        for key, entry in function["globals"].items():
            if next(k for k in entry if k != "constexpr") != "function":
                scope[key] = value_of(entry, functions, language)
        exec(compile(source, path, "exec"), scope)      # defines the function; nothing of it runs
        functions.append(language.jit.JITFunction(scope[name], noinline=function["noinline"]))
        scopes.append(scope)
    for scope, function in zip(scopes, request["functions"]):
        scope.update({key: value_of(entry, functions, language) for key, entry in function["globals"].items()
                      if "function" in entry})
    return functions[0], functions


def compile_request(request, language, capability):
    """Machine code and metadata of a kernel."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    kernel, functions = build(request, language)
    signature, constants, attributes = {}, {}, {}
    for i, (name, kind, *more) in enumerate(request["signature"]):
        signature[name] = kind
        if kind == "constexpr":
            value = value_of(more[0], functions, language)
            constants[(i,)] = value.value if isinstance(value, language.tl.constexpr) else value
        elif more:
            attributes[(i,)] = [["tt.divisibility", more[0]]]
    options = {key: request[key] for key in ("num_warps", "num_stages", "num_ctas")}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attributes)
    done = language.triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    meta = done.metadata
    version = tuple(int(x) for x in language.triton.__version__.split(".")[:2])
    if getattr(meta, "tensordesc_meta", None):
        raise Refused("tensor descriptors of the host are not supported")
    return {"name": meta.name, "num_warps": meta.num_warps, "num_ctas": meta.num_ctas, "shared": meta.shared,
            "cooperative": bool(getattr(meta, "launch_cooperative_grid", False)),
            "programmatic": bool(getattr(meta, "launch_pdl", False)),
            "scratch_params": 2 if version >= (3, 5) else 1 if version >= (3, 3) else 0,
            "scratch_bytes": getattr(meta, "global_scratch_size", 0) or 0,
            "profile_bytes": getattr(meta, "profile_scratch_size", 0) or 0}, done.asm["cubin"]


def answer(link, status, meta, code=b""):
    text = json.dumps(meta).encode()
    link.sendall(struct.pack("<IIII", ANSWER, status, len(text), len(code)) + text + code)


def read_exactly(link, n):
    parts = []
    while n:
        part = link.recv(min(n, 1 << 20))
        if not part:
            sys.exit(0)             # the judge has closed the socket
        parts.append(part)
        n -= len(part)
    return b"".join(parts)


def child(link, text, language, capability, folder):
    """Compiles one request in a process and a cache of its own."""
    os.environ["TRITON_CACHE_DIR"] = folder
    tempfile.tempdir = folder
    try:
        answer(link, COMPILED, *compile_request(json.loads(text), language, capability))
    except MemoryError:
        answer(link, REFUSED, {"message": "compiling the kernel took too much memory"})
    except BaseException as error:      # Triton reports errors of a kernel by many types
        message = str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}"
        answer(link, REFUSED, {"message": message[-300:]})


def serve(link, language, capability, folder, seconds):
    while True:
        magic, n = struct.unpack("<II", read_exactly(link, 8))
        if magic != REQUEST or n > REQUEST_MOST:
            sys.exit(2)
        text = read_exactly(link, n)
        own = tempfile.mkdtemp(dir=folder)
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            child(link, text, language, capability, own)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        shutil.rmtree(own, ignore_errors=True)
        if status:
            why = "took too long" if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) \
                else "crashed"
            answer(link, REFUSED, {"message": f"compiling the kernel {why}"})


WARM = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "signature": [["x", "*fp32", 16], ["N", "constexpr", {"int": 64}]],
        "functions": [{"name": "warm", "noinline": False, "globals": {"tl": {"module": "triton.language"}},
                       "source": "def warm(x, N: tl.constexpr):\n    i = tl.arange(0, N)\n    tl.store(x + i, tl.load(x + i) + 1)\n"}]}


def main(arguments):
    """compile_worker FD CAPABILITY FOLDER SECONDS"""
    descriptor, capability, folder, seconds = int(arguments[0]), int(arguments[1]), arguments[2], int(arguments[3])
    link = socket.socket(fileno=descriptor)
    os.environ.update(TRITON_CACHE_DIR=os.path.join(folder, "warm"), TMPDIR=folder)
    tempfile.tempdir = folder
    try:
        language = Language()
        compile_request(WARM, language, capability)     # LLVM starts once, before any fork
    except BaseException as error:
        answer(link, UNAVAILABLE, {"message": f"{type(error).__name__}: {error}"[-300:]})
        return
    answer(link, COMPILED, {"triton": language.triton.__version__})
    serve(link, language, capability, folder, seconds)


if __name__ == "__main__":
    main(sys.argv[1:])
