"""A task in KernelBench's form run by PyTorch, as host_run runs it in our engine: for
agree_host.py and bench/bench_host.py."""
import ast
import contextlib
import io
import linecache
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten


def literal(node):
    try:
        return eval(compile(ast.Expression(node), "constant", "eval"), {"__builtins__": {}})
    except Exception:
        return None


def constants(tree):
    """Module-level constants: (name, value, function that puts another value in its place); of
    `a = b = 2` the first name stands for all."""
    for s in tree.body:
        if not isinstance(s, ast.Assign):
            continue
        t, v = s.targets[0], s.value
        if isinstance(t, ast.Name):
            yield t.id, literal(v), lambda x, s=s: setattr(s, "value", ast.copy_location(ast.parse(repr(x), mode="eval").body, s.value))
        elif isinstance(t, ast.Tuple) and isinstance(v, ast.Tuple) and len(t.elts) == len(v.elts):
            for i, e in enumerate(t.elts):
                if isinstance(e, ast.Name):
                    yield e.id, literal(v.elts[i]), lambda x, v=v, i=i: v.elts.__setitem__(i, ast.copy_location(ast.Constant(x), v.elts[i]))


class Widened(ast.NodeTransformer):
    """Single precision written out in the source becomes double, as in our fp64 mode."""

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "torch" and node.attr in ("float32", "float"):
            node.attr = "float64"
        elif node.attr == "float":
            node.attr = "double"
        return node


def load(source, values, widen=False):
    """The namespace of the module with constants replaced, as host_load does it."""
    tree = ast.parse(source)
    for name, old, put in constants(tree):
        if name in values:
            other = values[name]
            if isinstance(old, (tuple, list)):
                put(type(old)(other if n == max(old) else n for n in old))
            else:
                put(other)
    if widen:
        tree = Widened().visit(tree)
    space = {"__name__": "task"}
    linecache.cache["task"] = (len(source), None, source.splitlines(True), "task")      # torch.jit.script reads it
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(ast.fix_missing_locations(tree), "task", "exec"), space)
    return space


def build(space, seed):
    """Model(*get_init_inputs()) under the seed, and the inputs under the seed."""
    torch.manual_seed(seed)
    init = space["get_init_inputs"]()
    torch.manual_seed(seed)
    if len(init) == 2 and isinstance(init[0], list) and isinstance(init[1], dict):
        model = space["Model"](*init[0], **init[1])
    else:
        model = space["Model"](*init)
    model.eval()
    torch.manual_seed(seed)
    return model, space["get_inputs"]()


def flatten(value, path, out):
    if isinstance(value, torch.Tensor):
        out[path] = value
    elif isinstance(value, (list, tuple)):
        for i, v in enumerate(value):
            flatten(v, f"{path}.{i}", out)
    elif isinstance(value, dict):
        for k, v in value.items():
            flatten(v, f"{path}.{k}", out)
    return out


def replaced(value, path, tensors):
    """The same nest with its tensors taken from `tensors` by their paths."""
    if isinstance(value, torch.Tensor):
        return tensors[path].clone()
    if isinstance(value, (list, tuple)):
        return type(value)(replaced(v, f"{path}.{i}", tensors) for i, v in enumerate(value))
    if isinstance(value, dict):
        return {k: replaced(v, f"{path}.{k}", tensors) for k, v in value.items()}
    return value


def state_of(model):
    state = {"state." + k: v for k, v in model.state_dict(keep_vars=False).items()}
    for k, v in model.named_buffers():
        state.setdefault("state." + k, v)
    return state


def run_torch(source, values, seed):
    """Inputs and state as drawn, and outputs, in the task's own precision."""
    with contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
        model, inputs = build(load(source, values), seed)
        drawn = {k: v.clone() for k, v in {**flatten(inputs, "input", {}), **state_of(model)}.items()}
        return drawn, flatten(model(*inputs), "output", {})


class Summands(TorchDispatchMode):
    """Remembers how large the summands of sums and means were, by the storage of the result:
    the scale of the rounding error of a sum is that of its summands, not of its value."""

    SUMS = {aten.sum.default: torch.sum, aten.sum.dim_IntList: torch.sum, aten.mean.default: torch.mean, aten.mean.dim: torch.mean}

    def __init__(self):
        super().__init__()
        self.size, self.kept = {}, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if func in self.SUMS and out.is_floating_point():
            size = self.SUMS[func](args[0].abs(), *args[1:], **(kwargs or {}))
            self.kept.append(out)
            self.size[out.untyped_storage().data_ptr()] = float(size.abs().max()) if size.numel() else 0.0
        return out

    def of(self, t):
        return self.size.get(t.untyped_storage().data_ptr(), 0.0)


def plain_tensors(model):
    """Tensors that modules keep as ordinary attributes, which are no part of the state."""
    for path, m in model.named_modules():
        for name, t in vars(m).items():
            if isinstance(t, torch.Tensor) and t.is_floating_point():
                yield (path, name), m, t


def take_draws(model, single):
    """Ordinary attributes drawn at random: in double the generator gives others, so those of
    the single precision model are taken. Computed ones are the same but for rounding."""
    drawn = {key: t for key, _, t in plain_tensors(single)}
    for key, m, t in list(plain_tensors(model)):
        if key in drawn and not torch.allclose(t.double(), drawn[key].double(), rtol=1e-3, atol=1e-5):
            setattr(m, key[1], drawn[key].double())


@contextlib.contextmanager
def single_draws():
    """Random numbers drawn in single precision and widened, so that they are those of the task.
    Initialisers do nothing: the state is given."""
    kept = {name: getattr(torch, name) for name in ("rand", "randn")}
    fills = {name: getattr(torch.Tensor, name) for name in ("uniform_", "normal_")}

    def drawn(fn):
        return lambda *size, dtype=None, **kw: fn(*size, dtype=torch.float32, **kw).to(dtype or torch.float64)

    try:
        for name, fn in kept.items():
            setattr(torch, name, drawn(fn))
        for name in fills:
            setattr(torch.Tensor, name, lambda self, *a, **kw: self)
        yield
    finally:
        for name, fn in kept.items():
            setattr(torch, name, fn)
        for name, fn in fills.items():
            setattr(torch.Tensor, name, fn)


def draws_attributes(source):
    """Does a class call a random function? Then its ordinary attributes may be random, too."""
    calls = [c for n in ast.parse(source).body if isinstance(n, ast.ClassDef) for c in ast.walk(n) if isinstance(c, ast.Attribute)]
    return any(c.attr in ("rand", "randn", "uniform_", "normal_", "randn_like", "rand_like") for c in calls)


def run_exact(source, values, seed, drawn):
    """The program in double on the inputs and state given, which may come from either side:
    outputs, and the scale of each output's rounding errors."""
    single = build(load(source, values), seed)[0] if draws_attributes(source) else None
    doubled = {k: v.double() if v.is_floating_point() else v for k, v in drawn.items()}
    torch.set_default_dtype(torch.float64)
    try:
        with contextlib.redirect_stdout(io.StringIO()), torch.no_grad(), single_draws():
            model, inputs = build(load(source, values, widen=True), seed)
            if single is not None:
                take_draws(model, single)
            del single
            for name, t in state_of(model.double()).items():
                t.copy_(doubled[name])
            inputs = replaced(inputs, "input", doubled)
            with Summands() as sums:
                out = flatten(model(*inputs), "output", {})
        scale = {}
        for name, t in out.items():
            finite = t[t.isfinite()] if t.is_floating_point() else t.double()
            scale[name] = max(float(finite.abs().max()) if finite.numel() else 0.0, sums.of(t)) or 1.0
        return out, scale
    finally:
        torch.set_default_dtype(torch.float32)


def time_torch(source, values, seed, clock):
    """The least time of a call of forward, in ms: at least five and 300 ms of them, at most 3 s."""
    with contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
        model, inputs = build(load(source, values), seed)
        kept = {k: v.clone() for k, v in flatten(inputs, "input", {}).items()}
        least, n, begin = 1e30, 0, clock()
        while (n < 6 or clock() - begin < 0.3) and clock() - begin < 3:
            args = replaced(inputs, "input", kept)
            t = clock()
            model(*args)
            least, n = min(least, clock() - t), n + 1
    return least * 1e3
