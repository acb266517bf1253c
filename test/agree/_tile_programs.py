"""Kernels written by rule, for comparing numbers: every operation on every dtype it takes, in
tiles of several shapes. Each file is a list of kernels with `# launch:` lines as in
test/tile/kernels (fills: unit, range, pos, wide, index, zeros, ones)."""
import re

HEAD = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n"
FLOATS = ["fp32", "fp16", "bf16", "fp64"]
INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
TL = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "fp64": "float64", "fp8e4nv": "float8e4nv", "fp8e5": "float8e5", "i1": "int1",
      **{i: i.replace("u", "uint") if i[0] == "u" else i.replace("i", "int") for i in INTS}}
N, BLOCK = 512, 256


class Book:
    """Kernels of one file."""

    def __init__(self):
        self.text, self.n = [HEAD], 0

    def add(self, launches, params, body, helpers=""):
        """`launches`: "grid=.. x=.." texts; `body`: lines of the kernel."""
        name = f"k{self.n}"
        self.n += 1
        lines = "\n".join("    " + l for l in body.strip("\n").split("\n"))
        launch = "\n".join(f"# launch: {name} {l}" for l in launches)
        self.text.append(f"{helpers}\n\n{launch}\n@triton.jit\ndef {name}({params}):\n{lines}\n")

    def lanes(self, ins, out, expr, fill="unit", before=""):
        """out[i] = expr over x, y, z, w of the dtypes `ins`."""
        names = "xyzw"[:len(ins)]
        loads = "\n".join(f"{v} = tl.load({v}p + i, mask=m)" for v in names)
        fills = fill if isinstance(fill, list) else [fill] * len(ins)
        args = " ".join(f"{v}p={d}:{N}:{f}" for v, d, f in zip(names, ins, fills))
        params = ", ".join(f"{v}p" for v in names)
        body = f"i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\nm = i < n\n{loads}\n{before}\ntl.store(out + i, {expr}, mask=m)"
        self.add([f"grid=2 {args} out={out}:{N}:zeros n={N - 3} BLOCK={BLOCK}"], f"{params}, out, n, BLOCK: tl.constexpr", body)

    def source(self):
        return "\n".join(self.text)


def pointwise():
    b = Book()
    for d in FLOATS:
        up = "x.to(tl.float32)" if d in ("fp16", "bf16") else "x"
        for f, fill in [("exp", "range"), ("exp2", "range"), ("log", "pos"), ("log2", "pos"), ("sin", "range"), ("cos", "range"), ("sqrt", "pos"),
                        ("rsqrt", "pos"), ("erf", "range"), ("floor", "range"), ("ceil", "range"), ("sigmoid", "range"), ("sqrt_rn", "pos")]:
            if f == "sqrt_rn" and d == "fp64":
                continue
            b.lanes([d], d, f"tl.{f}({up})", fill)
        for e in ["tl.abs(x)", "-x", "x + 1", "x * 0.5", "1 - x", "x * x * x", "tl.where(x > 0, x, 0.01 * x)", "tl.maximum(x, 0)",
                  "tl.clamp(x, -1.0, 1.0)", "x * (x > 0.5)", "(x > 0) == (x < 1)"]:
            b.lanes([d], "i8" if "==" in e else d, e, "wide")
        for e in ["x + y", "x - y", "x * y", "tl.maximum(x, y)", "tl.minimum(x, y)", "tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)",
                  "tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)"]:
            b.lanes([d, d], d, e, "wide")
        for e in ["x / y", "tl.fdiv(x, y)", "x % y"]:
            b.lanes([d, d], d, e, ["range", "pos"])
        if d == "fp32":
            b.lanes([d, d], d, "tl.div_rn(x, y)", ["range", "pos"])
        for op in ["<", "<=", "==", "!=", ">", ">="]:
            b.lanes([d, d], "i8", f"x {op} y", "wide")
        b.lanes([d, d, d], d, "tl.fma(x, y, z)")
        b.lanes([d, d, d], d, "x * y + z")
        b.lanes([d, d, d, d], d, "(x - y) * (z + w)")
    return b.source()


def integers():
    b = Book()
    for d in INTS:
        for e in ["x + y", "x - y", "x * y", "x & y", "x | y", "x ^ y", "tl.maximum(x, y)", "tl.minimum(x, y)"]:
            b.lanes([d, d], d, e, "wide")
        b.lanes([d, d], d, "x // (y | 1)", "wide")
        b.lanes([d, d], d, "x % (y | 1)", "wide")
        b.lanes([d, d], d, "x << (y & 7)", "wide")
        b.lanes([d, d], d, "x >> (y & 7)", "wide")
        b.lanes([d], d, "~x", "wide")
        b.lanes([d, d], "i8", "x < y", "wide")
        b.lanes([d], "fp32", "x / 3", "wide")
        b.lanes([d], d, "tl.where(x > 3, x, 0)", "unit")
        b.lanes([d, d], d, "tl.cdiv(x, 5)", "unit") if d[0] == "i" else None
    for d in ("i32", "u32", "i64", "u64"):
        b.lanes([d, d], d, "tl.umulhi(x, y)", "wide")
    pairs = [("i8", "i32"), ("u8", "i8"), ("i32", "i64"), ("u32", "i32"), ("i16", "u16"), ("i32", "fp16"), ("i64", "fp32"), ("fp16", "bf16"),
             ("fp16", "fp32"), ("bf16", "fp32"), ("fp32", "fp64"), ("u8", "fp16"), ("i1", "fp32"), ("i1", "i32"), ("i8", "bf16")]
    for a, c in pairs:
        for e in ["x + y", "x * y", "x - y"]:
            b.lanes([a, c], "fp64" if "p" in a + c or "b" in a + c else "i64", e)
        b.lanes([a, c], "i8", "x < y")
    return b.source()


def casts():
    b = Book()
    real = ["fp32", "fp16", "bf16", "fp64"]
    small = ["fp8e4nv", "fp8e5"]
    for s in real + small + INTS + ["i1"]:
        for d in real + small + INTS + ["i1"]:
            if s == d or (s in small and d in INTS + ["i1", "fp64"]) or (d in small and s not in ("fp32", "fp16", "bf16")):
                continue
            is_int, to_int = s in INTS + ["i1"], d in INTS + ["i1"]
            fill = "wide" if is_int == to_int or is_int else "pos" if d[0] == "u" else "range"
            b.lanes([s], "i8" if d == "i1" else d, f"x.to(tl.{TL[d]})", fill)
    for s, d in [("fp32", "fp16"), ("fp32", "bf16"), ("fp32", "fp8e5"), ("fp16", "fp8e5"), ("fp64", "fp32")]:
        b.lanes([s], d, f"x.to(tl.{TL[d]}, fp_downcast_rounding='rtz')", "range") if s != "fp64" else None
        b.lanes([s], d, f"x.to(tl.{TL[d]}, fp_downcast_rounding='rtne')", "range") if d != "fp8e5" and s != "fp64" else None
    for s, d in [("fp32", "i32"), ("i32", "fp32"), ("fp16", "i16"), ("bf16", "i16"), ("fp64", "i64"), ("u8", "fp8e5"), ("fp8e4nv", "i8"), ("fp16", "bf16")]:
        b.lanes([s], d, f"x.to(tl.{TL[d]}, bitcast=True)", "unit")
    return b.source()


def tile_2d(b, d, out, count, expr, shape=(16, 32), fill="unit", before="", store="j"):
    """`count` results of an expression over x of a 2-d shape."""
    m, n = shape
    index = {"j": f"tl.arange(0, {count})", "ij": f"(tl.arange(0, {m})[:, None] * {n} + tl.arange(0, {n})[None, :])", "0": "0"}[store]
    body = f"x = tl.load(xp + tl.arange(0, {m})[:, None] * {n} + tl.arange(0, {n})[None, :])\n{before}\ntl.store(out + {index}, {expr})"
    b.add([f"grid=1 xp={d}:{m * n}:{fill} out={out}:{max(count, 1)}:zeros"], "xp, out", body)


def reductions():
    b = Book()
    for d in FLOATS + ["i8", "i32", "i64", "u8", "u32"]:
        wide = {"fp16": "fp32", "bf16": "fp32", "i8": "i32", "u8": "u32"}.get(d, d)
        for f in ["sum", "max", "min", "argmax", "argmin"]:
            out = "i32" if "arg" in f else wide if f == "sum" else d
            tile_2d(b, d, out, 32, f"tl.{f}(x, axis=0)")
            tile_2d(b, d, out, 16, f"tl.{f}(x, axis=1)")
            tile_2d(b, d, out, 16, f"tl.{f}(x, axis=1)", (16, 512))
            if "arg" not in f:
                tile_2d(b, d, out, 1, f"tl.{f}(x)", store="0")
        if d[0] in "iu":
            tile_2d(b, d, d, 32, "tl.xor_sum(x, axis=0)", fill="wide")
            tile_2d(b, d, d, 16, "tl.reduce(x, 1, both)", fill="wide", before="")
        tile_2d(b, d, d, 16, "tl.reduce(x, 1, product)", fill="pos" if d[0] in "fb" else "unit")
        tile_2d(b, d, d, 16, "tl.max(x, axis=1, return_indices=True)[0]")
        tile_2d(b, d, "i32", 16, "tl.max(x, axis=1, return_indices=True)[1]")
    helpers = "\n\n@triton.jit\ndef both(a, b):\n    return a | b\n\n\n@triton.jit\ndef product(a, b):\n    return a * b\n"
    return b.source().replace(HEAD, HEAD + helpers, 1)


def scans():
    b = Book()
    for d in ["fp32", "fp16", "bf16", "fp64", "i32", "i64", "i8"]:
        out = {"fp16": "fp32", "bf16": "fp32", "i8": "i32"}.get(d, d)
        for axis in (0, 1):
            for rev in ("", ", reverse=True"):
                tile_2d(b, d, out, 512, f"tl.cumsum(x, axis={axis}{rev})", store="ij")
        tile_2d(b, d, out, 512, "tl.cumprod(x, axis=1)", store="ij", fill="pos" if d[0] in "fb" else "unit")
        tile_2d(b, d, d, 512, "tl.associative_scan(x, 1, largest)", store="ij")
        if d in ("fp32", "fp64"):
            tile_2d(b, d, d, 512, "tl.associative_scan((x * 0.5, x), 1, recur)[1]", store="ij")
            tile_2d(b, d, d, 512, "tl.associative_scan((x * 0.5, x), 0, recur)[1]", store="ij")
    helpers = "\n\n@triton.jit\ndef largest(a, b):\n    return tl.maximum(a, b)\n\n\n@triton.jit\ndef recur(a, p, b, q):\n    return a * b, b * p + q\n"
    return b.source().replace(HEAD, HEAD + helpers, 1)


DOT = """
rm = tl.arange(0, M)
rn = tl.arange(0, N)
rk = tl.arange(0, K)
a = tl.load(ap + rm[:, None] * K + rk[None, :])
b = tl.load(bp + rk[:, None] * N + rn[None, :])
c = %s
tl.store(out + rm[:, None] * N + rn[None, :], c)
"""


def dots():
    b = Book()
    shapes = [(16, 16, 16), (16, 32, 64), (32, 16, 128), (64, 64, 32), (128, 64, 32), (64, 128, 64), (32, 32, 256)]
    params = "ap, bp, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr"

    def launches(a, c, out, some):
        return [f"grid=1 ap={a}:{m * k} bp={c}:{k * n} out={out}:{m * n} M={m} N={n} K={k}" for m, n, k in some]

    for d, out, how in [("fp32", "fp32", ", input_precision='tf32'"), ("fp32", "fp32", ", input_precision='ieee'"), ("fp32", "fp32", ""),
                        ("fp32", "fp32", ", input_precision='tf32x3'"), ("fp16", "fp32", ""), ("bf16", "fp32", ""),
                        ("fp16", "fp16", ", out_dtype=tl.float16"), ("fp64", "fp64", ", out_dtype=tl.float64")]:
        some = shapes[:4] if d == "fp64" else shapes
        b.add(launches(d, d, out, some), params, DOT % f"tl.dot(a, b{how})")
        if d != "fp64" and out == "fp32":
            b.add(launches(d, d, out, some), params, DOT % f"tl.dot(a, b, acc=tl.load(out + rm[:, None] * N + rn[None, :]){how})")
            b.add(launches(d, d, out, shapes[3:5]), params, DOT % f"tl.dot(a, b{how}) + tl.dot(a, b * 2{how})")
    for d in ("fp8e4nv", "fp8e5"):
        b.add(launches(d, d, "fp32", shapes[1:]), params, DOT % "tl.dot(a, b)")
    b.add(launches("i8", "i8", "i32", shapes[1:]), params, DOT % "tl.dot(a, b, out_dtype=tl.int32)")
    for d in ("fp32", "fp16", "bf16"):
        body = DOT.replace("bp + rk[:, None] * N + rn[None, :]", "bp + rn[:, None] * K + rk[None, :]")
        b.add(launches(d, d, "fp32", shapes), params, body % "tl.dot(a, tl.trans(b))")
        b.add(launches(d, d, d, shapes[2:5]), params, DOT % "tl.dot(a, b).to(out.dtype.element_ty)")
        batch = """
i = tl.arange(0, 2)[:, None, None]
r = tl.arange(0, 32)
x = tl.load(ap + i * 1024 + r[None, :, None] * 32 + r[None, None, :])
y = tl.load(bp + i * 1024 + r[None, :, None] * 32 + r[None, None, :])
tl.store(out + i * 1024 + r[None, :, None] * 32 + r[None, None, :], tl.dot(x, y, input_precision="ieee"))
"""
        b.add([f"grid=1 ap={d}:2048 bp={d}:2048 out=fp32:2048"], "ap, bp, out", batch)
    return b.source()


def atomics():
    b = Book()
    for d in ["i32", "i64", "u32", "u64", "fp32", "fp16", "bf16", "fp64"]:
        for f in ["add", "max", "min", "xchg", "and", "or", "xor"]:
            if (d[0] in "fb" and f in ("and", "or", "xor")) or (d in ("fp16", "bf16") and f != "add") or (d == "fp64" and f in ("max", "min")):
                continue
            many = "grid=4" if f != "xchg" else "grid=1"
            body = f"i = tl.arange(0, 128)\nv = tl.load(xp + tl.program_id(0) * 128 + i)\ntl.atomic_{f}(out + i %s, v, mask=i < n)"
            for where in ("", "% 16") if f != "xchg" else ("",):
                b.add([f"{many} xp={d}:512 out={d}:128 n=100"], "xp, out, n", body % where)
        if d not in ("fp16", "bf16"):
            b.add([f"grid=1 xp={d}:512 out={d}:128 old={d}:128:zeros"], "xp, out, old",
                  "i = tl.arange(0, 128)\ntl.store(old + i, tl.atomic_add(out + i, tl.load(xp + i)))")
            b.add([f"grid=8 xp={d}:512 out={d}:1:zeros"], "xp, out", "v = tl.load(xp + tl.program_id(0))\ntl.atomic_add(out, v)")
    for d in ("i32", "i64", "u32"):
        b.add([f"grid=1 xp={d}:128 out={d}:128 old={d}:128:zeros"], "xp, out, old",
              "i = tl.arange(0, 128)\nx = tl.load(xp + i)\ntl.store(old + i, tl.atomic_cas(out + i, x, x + 5))")
        b.add([f"grid=6 out={d}:1:zeros"], "out", "v = tl.atomic_add(out, 0)\nwhile tl.atomic_cas(out, v, v + 3) != v:\n    v = tl.atomic_add(out, 0)")
    return b.source()


def moves():
    b = Book()
    for d in ["fp32", "fp16", "bf16", "i32", "i64", "i8", "u8"]:
        for e in ["tl.sort(x)", "tl.sort(x, descending=True)", "tl.flip(x, 1)", "tl.flip(x, 0)"]:
            if d == "bf16" and "sort" in e:
                continue
            tile_2d(b, d, d, 512, e, store="ij")
        tile_2d(b, d, d, 512, "tl.trans(tl.reshape(tl.trans(x), (16, 32)).reshape(32, 16))", store="ij")
        tile_2d(b, d, d, 512, "tl.permute(x.reshape(16, 8, 4), (1, 0, 2)).reshape(16, 32)", store="ij")
        tile_2d(b, d, d, 512, "tl.join(x, x * 2).reshape(16, 64).reshape(32, 32).reshape(64, 16).reshape(2, 16, 32).sum(0)", store="ij") \
            if d in ("fp32", "i32") else None
        tile_2d(b, d, d, 512, "p", store="ij", before="q, r = tl.split(x.reshape(16, 16, 2))\np = tl.join(r, q).reshape(16, 32)")
        tile_2d(b, d, d, 512, "tl.interleave(tl.split(x.reshape(16, 16, 2))[1], tl.split(x.reshape(16, 16, 2))[0])", store="ij")
        tile_2d(b, d, d, 512, "tl.gather(x, i, 1)", store="ij", before="i = (tl.arange(0, 16)[:, None] + tl.arange(0, 32)[None, :] * 5) % 32")
        tile_2d(b, d, d, 512, "tl.gather(x, i, 0)", store="ij", before="i = (tl.arange(0, 16)[:, None] * 3 + tl.arange(0, 32)[None, :]) % 16")
        if d != "bf16":
            b.add([f"grid=1 xp={d}:128 out={d}:16:zeros"], "xp, out", "x = tl.load(xp + tl.arange(0, 128))\ntl.store(out + tl.arange(0, 16), tl.topk(x, 16))")
    for d in ("i32", "i64", "u8", "i8", "u32"):
        b.add([f"grid=1 xp={d}:256 out=i32:16:zeros"], "xp, out", "x = tl.load(xp + tl.arange(0, 256))\ntl.store(out + tl.arange(0, 16), tl.histogram(x, 16))")
        b.add([f"grid=1 xp={d}:256 out=i32:16:zeros"], "xp, out",
              "i = tl.arange(0, 256)\nx = tl.load(xp + i)\ntl.store(out + tl.arange(0, 16), tl.histogram(x, 16, mask=i < 200))")
    b.add(["grid=1 out=i32:64:zeros"], "out", "i, j = tl.swizzle2d(tl.arange(0, 64) // 8, tl.arange(0, 64) % 8, 8, 8, 4)\ntl.store(out + tl.arange(0, 64), i * 100 + j)")
    return b.source()


def random():
    b = Book()
    for seed in (0, 12345, -7):
        for e, out in [("tl.rand(seed, i)", "fp32"), ("tl.randn(seed, i)", "fp32"), ("tl.randint(seed, i)", "i32"), ("tl.randint4x(seed, i)[2]", "i32"),
                       ("tl.rand4x(seed, i)[3]", "fp32"), ("tl.randn4x(seed, i)[1]", "fp32"), ("tl.rand(seed, i, n_rounds=6)", "fp32"),
                       ("tl.rand(seed, i.to(tl.int64))", "fp32"), ("tl.philox(seed, i, i * 3, i * 0, i * 0 + 7)[1]", "i32"),
                       ("tl.uint_to_uniform_float(tl.randint(seed, i))", "fp32")]:
            b.add([f"grid=2 out={out}:512:zeros seed={seed}"], "out, seed", f"i = tl.program_id(0) * 256 + tl.arange(0, 256)\ntl.store(out + i, {e})")
    b.add(["grid=2 xp=fp32:512 out=fp32:512:zeros p=0.25 seed=99"], "xp, out, p, seed",
          "i = tl.program_id(0) * 256 + tl.arange(0, 256)\nk = tl.rand(seed, i) > p\ntl.store(out + i, tl.where(k, tl.load(xp + i) / (1 - p), 0.0))")
    return b.source()


LETTER = {"f": "fp32", "d": "fp64", "i": "i32", "l": "i64", "u": "u32", "U": "u64", "b": "i32"}
DOMAIN = {"acos": "unit", "asin": "unit", "atanh": "unit", "erfinv": "unit", "acosh": "pos", "log": "pos", "log2": "pos", "log10": "pos", "log1p": "pos",
          "fast_logf": "pos", "fast_log2f": "pos", "fast_log10f": "pos", "sqrt": "pos", "rsqrt": "pos", "y0": "pos", "y1": "pos", "yn": "pos", "pow": "pos",
          "fast_powf": "pos", "normcdfinv": "pos", "erfcinv": "pos", "lgamma": "pos", "tgamma": "pos", "rsqrt_rn": "pos", "rcp64h": "pos"}


def library(table):
    """Every overload of libdevice that `table` (math.def) lists."""
    b = Book()
    for name, overloads in re.findall(r'^LIBDEV\((\w+), "([^"]*)"', table, re.M):
        for o in overloads.split():
            args, out = o.split(">")[0].split(":")
            out = o.split(">")[1] if ">" in o else out
            domain = DOMAIN.get(name) or ("pos" if re.match(r"sqrt_|fast_div", name) else "range")
            ints = re.search("[ilu]", args.lower()) is not None and not re.search("[fd]", args)
            fills = ["wide" if ints else "unit" if c in "iluU" else domain for c in args]
            if re.search(r"2u(int|ll)", name):
                fills = ["pos"] * len(args)
            b.lanes([LETTER[c] for c in args], LETTER[out], f"libdevice.{name}({', '.join('xyzw'[:len(args)])})", fills)
    return b.source()


def files(table):
    """File name and text of everything above."""
    return {"pointwise": pointwise(), "integers": integers(), "casts": casts(), "reductions": reductions(), "scans": scans(), "dots": dots(),
            "atomics": atomics(), "moves": moves(), "random": random(), "library": library(table)}
