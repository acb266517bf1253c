"""Operators of the host engine against PyTorch: values, dtypes, shapes, strides where asked.

Every case of num_cases.py runs on both sides. Float results must lie within `limit` of
PyTorch's fp64 result of the same expression, or be as close to it as PyTorch's own fp32 is
(times two): the engine must be at least as accurate as PyTorch, not bit-equal. Also random
numbers: bit-identical where they are uniform, within 4 ulp where they are normal.

usage: agree_num.py [time]
"""
import ast, math, os, re, subprocess, sys, tempfile, time
import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.dirname(__file__))
import error_cases, num_cases, rng_cases

TOOL = os.environ.get("HOST_CASES", "build/release/tool/host_cases")
torch.set_num_threads(1)
LIMIT = {torch.float64: 1e-12, torch.float32: 2e-6, torch.bfloat16: 8e-3, torch.float16: 1e-3}


def script(cases):
    out = [num_cases.PRELUDE]
    for k, c in enumerate(cases):
        out.append(f"def case_{k}():\n    torch.manual_seed({k})\n    return {c}\n")
    return "\n".join(out)


def flat(v):
    if isinstance(v, (tuple, list)) and not isinstance(v, torch.Size):
        return [x for e in v for x in flat(e)]
    if isinstance(v, torch.Size):
        return list(v)
    return [v]


def run_ours(text, mode=None):
    with tempfile.NamedTemporaryFile("w", suffix=".py") as f:
        f.write(text)
        f.flush()
        p = subprocess.run([TOOL, f.name] + ([mode] if mode else []), capture_output=True)
    if p.returncode:
        sys.exit(f"{TOOL}: {p.stderr.decode()} (exit {p.returncode})")
    return p.stdout


def read_ours(data):
    at, res, cur = 0, {}, None
    while at < len(data):
        end = data.index(b"\n", at)
        line = data[at:end].decode()
        at = end + 1
        w = line.split(" ", 3)
        if w[0] == "case":
            cur = int(w[1])
            res[cur] = [] if w[2] == "ok" else line
        elif w[0] == "tensor":
            dt = getattr(torch, w[1])
            m = re.match(r"tensor \S+ (\[.*?\]) (\[.*?\])$", line)
            shape, stride = ast.literal_eval(m[1]), ast.literal_eval(m[2])
            n = math.prod(shape) * dt.itemsize
            raw = bytearray(data[at:at + n])
            at += n
            t = torch.frombuffer(raw, dtype=dt).reshape(shape) if n else torch.empty(shape, dtype=dt)
            t.their_stride = stride
            res[cur].append(t)
        elif w[0] == "number":
            res[cur].append(float(line[7:]))
        else:
            res[cur].append(line[5:])
    return res


def widened(case, k):
    """The expression in fp64 on the same fp32 draws, where that is possible."""
    env = {}
    exec(num_cases.PRELUDE.replace("(torch.rand(*s) * 4 - 2).to(dtype)", "(torch.rand(*s) * 4 - 2).to(dtype).double()")
         .replace("1 - torch.rand(*s)", "(1 - torch.rand(*s)).double()"), env)
    try:
        torch.manual_seed(k)
        old = torch.get_default_dtype()
        src = case.replace("torch.float32", "torch.float64")
        draws = torch.rand

        def rand(*s, **kw):
            return draws(*s, dtype=torch.float32, **kw)
        env["torch"].rand = rand
        torch.set_default_dtype(torch.float64)
        try:
            return flat(eval(src, env))
        finally:
            torch.set_default_dtype(old)
            torch.rand = draws
    except Exception:
        return None


def error(a, b):
    """Largest distance relative to the size of the result."""
    a, b = a.double(), b.double()
    if a.numel() == 0:
        return 0.0
    same = (a == b) | (a.isnan() & b.isnan())
    scale = b[b.isfinite()].abs()
    scale = float(scale.mean()) if scale.numel() else 1.0
    d = torch.where(same, torch.zeros_like(a), (a - b).abs() / torch.maximum(b.abs(), torch.tensor(max(scale, 1e-30), dtype=torch.float64)))
    return float(torch.where(d.isnan(), torch.tensor(math.inf, dtype=torch.float64), d).max())


def compare(case, k, ours, theirs, worst):
    theirs = flat(theirs)
    if isinstance(ours, str):
        return ours
    if len(ours) != len(theirs):
        return f"{len(ours)} results, PyTorch has {len(theirs)}"
    exact = None
    for n, (a, b) in enumerate(zip(ours, theirs)):
        if not isinstance(b, torch.Tensor):
            if isinstance(b, (bool, int, float)):
                if not (a == b or abs(a - b) <= 1e-6 * max(1, abs(b))):
                    return f"number {a}, PyTorch {b}"
            elif str(a) != str(b):
                return f"{a}, PyTorch {b}"
            continue
        if not isinstance(a, torch.Tensor) or a.dtype != b.dtype or list(a.shape) != list(b.shape):
            return f"{getattr(a, 'dtype', a)}{list(getattr(a, 'shape', []))}, PyTorch {b.dtype}{list(b.shape)}"
        if not b.dtype.is_floating_point:
            if not torch.equal(a, b):
                return f"integers differ: {a.flatten()[:6].tolist()} PyTorch {b.flatten()[:6].tolist()}"
            continue
        e = error(a, b)
        if b.dtype == torch.float32 and e > 1e-7:
            exact = exact or widened(case, k)
            if exact is not None and n < len(exact) and isinstance(exact[n], torch.Tensor) and exact[n].shape == b.shape:
                e = error(a, exact[n])
                mine = error(b, exact[n])
                worst.append((e, mine, case))
                if e <= 2 * mine + 3e-7:
                    continue
        worst.append((e, None, case))
        if e > LIMIT[b.dtype]:
            return f"relative error {e:.3g}: {a.flatten()[:4].tolist()} PyTorch {b.flatten()[:4].tolist()}"
    return None


def main_values():
    text = script(num_cases.CASES)
    ours = read_ours(run_ours(text))
    env = {}
    exec(text, env)
    bad, worst, skipped = 0, [], 0
    for k, c in enumerate(num_cases.CASES):
        try:
            theirs = env[f"case_{k}"]()
        except Exception as ex:
            print(f"SKIP {c}: PyTorch raises {type(ex).__name__}: {str(ex)[:120]}")
            skipped += 1
            continue
        why = compare(c, k, ours.get(k, "no result"), theirs, worst)
        if why:
            bad += 1
            print(f"FAIL {c}: {why}")
    both = [(a, b) for a, b, _ in worst if b is not None]
    print(f"agree_num: {len(num_cases.CASES) - skipped} expressions, {bad} differ, {skipped} skipped; "
          f"largest error against fp64: ours {max(a for a, _ in both):.3g}, PyTorch's own {max(b for _, b in both):.3g}")
    return bad


def ulps(a, b):
    """In units of the last place; near zero (mean and deviation cancel) of the typical value."""
    size = torch.maximum(b.abs(), b.abs().mean())
    u = torch.nextafter(size, torch.tensor(math.inf, dtype=b.dtype)) - size
    return float(((a.double() - b.double()).abs() / u.double()).max()) if a.numel() else 0.0


def main_random():
    text = script(rng_cases.CASES)
    ours = read_ours(run_ours(text))
    env = {}
    exec(text, env)
    bad = exact = close = 0
    worst = 0.0
    for k, c in enumerate(rng_cases.CASES):
        theirs = flat(env[f"case_{k}"]())
        mine = ours.get(k, "no result")
        if isinstance(mine, str):
            print(f"FAIL {c}: {mine}")
            bad += 1
            continue
        for a, b in zip(mine, theirs):
            if isinstance(a, torch.Tensor) and a.shape == b.shape and a.dtype == b.dtype and torch.equal(a, b):
                exact += b.numel()
                continue
            if "normal" in c or "randn" in c or "orthogonal" in c:
                u = ulps(a, b) if "orthogonal" not in c else error(a, b) / 1e-6
                lim = 4 if b.dtype in (torch.float32, torch.float64) else 1
                worst = max(worst, u)
                close += b.numel()
                if u <= lim:
                    continue
                print(f"FAIL {c}: {u:.3g} ulp")
            else:
                print(f"FAIL {c}: {a.flatten()[:4]} PyTorch {b.flatten()[:4]}")
            bad += 1
    print(f"agree_rng: {len(rng_cases.CASES)} programs, {exact} numbers bit-identical, {close} normal ones within {worst:.3g} ulp, {bad} differ")
    return bad


def words(text):
    """A message without what PyTorch adds around it."""
    text = text.split("\n")[0].strip()
    text = re.sub(r"torch\.\w*Tensor", "Tensor", text)
    return re.sub(r"[^a-z0-9 ]", "", text.lower())


def main_errors():
    text = script(error_cases.CASES)
    ours = read_ours(run_ours(text))
    env = {}
    exec(text, env)
    quiet = wrong_class = wrong_text = 0
    for k, c in enumerate(error_cases.CASES):
        try:
            env[f"case_{k}"]()
            print(f"NOTE PyTorch accepts {c}")
            continue
        except Exception as ex:
            want = (type(ex).__name__, str(ex))
        mine = ours.get(k)
        if not isinstance(mine, str):
            quiet += 1
            print(f"FAIL {c}: no error here, PyTorch {want[0]}: {want[1][:150]}")
            continue
        m = re.match(r"case \d+ error (\w+): (?:(\w+): )?(.*)", mine, re.S)
        got = (m[2] or m[1], m[3])
        if got[0] != want[0]:
            wrong_class += 1
            print(f"CLASS {c}: {got[0]} ({got[1][:80]}), PyTorch {want[0]}: {want[1][:120]}")
        a, b = words(got[1]), words(want[1])
        if a != b and not (len(a) > 20 and (b.startswith(a) or a.startswith(b))):
            wrong_text += 1
            print(f"TEXT {c}:\n    {got[1][:200]}\n    {want[1].splitlines()[0][:200]}")
    n = len(error_cases.CASES)
    print(f"agree_errors: {n} mistakes, {quiet} not noticed, {wrong_class} with another class, {wrong_text} with another text")
    return quiet


if __name__ == "__main__":
    sys.exit((main_values() + main_random() + main_errors()) != 0)
