"""How far two results of one kernel may lie apart, by the class of the kernel."""
import re
from dataclasses import dataclass

import numpy as np

import _tile_gpu_side as side

MANTISSA = {"fp64": 52, "fp32": 23, "fp16": 10, "bf16": 7, "fp8e4nv": 3, "fp8e5": 2}


@dataclass
class Judged:
    bad: bool
    size: float = 0.0           # ulps or relative error, as the class has it
    at: int = 0
    text: str = ""


def values(data, dtype):
    """Doubles (floats) or integers of raw bytes."""
    import torch
    t = torch.from_numpy(data.copy()).view(side.torch_dtype(dtype))
    return t.double().numpy() if t.dtype.is_floating_point else t.view(torch.int8).numpy() if t.dtype == torch.bool else t.numpy()


def ulp(v, dtype):
    """Distance of neighbours of v in dtype."""
    least = {"fp64": -1022, "fp32": -126, "fp16": -14, "bf16": -126, "fp8e4nv": -6, "fp8e5": -14}[dtype]
    with np.errstate(divide="ignore", invalid="ignore"):
        e = np.floor(np.log2(np.abs(v)))
    e = np.maximum(np.where(np.isfinite(e), e, least), least)
    return np.exp2(e - MANTISSA[dtype])


def worst(ours, theirs, error, limit, what):
    """Judged by error <= limit, all in one unit."""
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    error = np.where(same, 0.0, np.where(np.isfinite(error), error, np.inf))
    i = int(np.argmax(error)) if len(error) else 0
    size = float(error[i]) if len(error) else 0.0
    return Judged(size > limit, size, i, f"is {ours[i]!r}, there {theirs[i]!r} ({size:.3g} {what})" if len(error) else "")


# Cases whose values differ for a reason that is no rounding, by file, kernel and body.
REASONS = [
    (r"^shapes.py views|_element_mul_kernel|_triton_rope_npu|_jsd_kernel", "stores of one program to one element from different lanes: the GPU does not order them"),
    (r"tl\.clamp\(x, -1\.0, 1\.0\)|tl\.clamp\(x, -limit, limit\)", "clamp of NaN, or to -c, c with negative c: the GPU has an instruction of its own for -c, c"),
    (r"^made_casts.*xp=fp8e5 out=bf16", "infinity of fp8e5 to bf16: 65536 on the GPU"),
    (r"CAN_REORDER", "tl.cat with can_reorder: the order is Triton's choice"),
    (r"var_mean_kernel_2", "a combine that divides by a sum of random counts"),
]
# The GPU's own errors in ulps where they are more than a few: approximations by their name, and
# functions that CUDA documents so. Ours are held to 2 ulps of the true value by unit tests.
INTERPRETER = [
    (r"bf16|bfloat16|fp8|float8", "bf16 and fp8 are computed on bit patterns"),
    (r"^promote.py logic_on_ints", "`and` is Python's"),
    (r"tl\.fma\(|input_precision|tl\.dot\(|combine_changes_type|product\)", "no fused multiply-add, no tf32, another order"),
    (r"tl\.maximum\(x, 0\)", "maximum of NaN and a number is NaN"),
    (r"tl\.umulhi\(", "umulhi of signed numbers"),
    (r"^clean.py sum_is_a_barrier", "a sum of fp16 in another order"),
]
LIBRARY = [(r"libdevice\.fast_", 1 << 14), (r"libdevice\.[jy][01n]\(", 1 << 12), (r"libdevice\.rcp64h", 1 << 33)]


def body(case, pack, cache={}):
    """A case in words: file, kernel, dtypes, source. `pack`: a pack, or the kernel's file."""
    path = pack / "kernels" / case["file"] if pack.is_dir() else pack
    if path not in cache:
        cache[path] = path.read_text()
    text = re.split(r"\n(?:@triton|# launch:|# signature:)", cache[path][cache[path].index(f"def {case['kernel']}("):])[0]
    types = " ".join(f"{a['name']}={a['dtype']}" for a in case["args"] if a["kind"] == "tensor")
    return f"{case['file']} {case['kernel']} {types} {text}"


def explained(case, pack, on_gpu):
    text = body(case, pack)
    return next((why for pattern, why in (REASONS if on_gpu else REASONS + INTERPRETER) if re.search(pattern, text)), None)


def narrowest(case):
    """Mantissa bits in which sums are rounded: of the narrowest dtype that is reduced or scanned."""
    types = re.findall(r"\b(?:reduce|scan|atomic):(\w+):", case["ops"])
    return min([MANTISSA[t] for t in types if t in MANTISSA], default=23)


def special_limit(case, dtype, pack):
    """Ulps of functions: the GPU's approximations, which grow with the argument (exp of 6: its
    product with log2(e) is off by 3), against values within 2 of the true one."""
    text = body(case, pack)
    return next((limit for pattern, limit in LIBRARY if re.search(pattern, text)), 8 if dtype in ("fp32", "fp64") else 1)


def dot_bits(case):
    """Bits to which products and sums of a dot are kept."""
    text = case["ops"]
    types = {a["dtype"] for a in case["args"] if a["kind"] == "tensor"}
    if types & {"fp8e4nv", "fp8e5"} or "dot_scaled" in text or "fp8" in text:
        return 11
    if re.search(r"dot:fp32:1;", text) and "fp32" in types:
        return 12
    if re.search(r"dot:fp16", text):
        return 10
    if re.search(r"dot:fp64", text) and "fp32" not in types:
        return 45
    return 19


def kind(case):
    """Class and number format, for the table: what a dot multiplies, else the widest float."""
    types = [a["dtype"] for a in case["args"] if a["kind"] == "tensor"]
    if case["class"] == "dot":
        how = re.search(r"\bdot:\w+:(\d)", case["ops"])
        narrow = next((t for t in ("fp8e4nv", "fp8e5", "i8", "bf16", "fp16", "fp64") if t in types), None)
        return f"dot {narrow or ['ieee', 'tf32', 'tf32x3', 'bf16x3', 'bf16x6'][int(how.group(1)) if how else 0]}"
    floats = [t for t in ("fp64", "fp32", "fp16", "bf16", "fp8e4nv", "fp8e5") if t in types]
    return f"{case['class']} {'/'.join(floats) if len(floats) < 3 else 'mixed'}" if floats else f"{case['class']} int"


def judge(case, arg, ours, theirs, scale, pack):
    dtype, cls = arg["dtype"], case["class"]
    if (ours == theirs).all():
        return Judged(False)
    a, b, s = values(ours, dtype), values(theirs, dtype), values(scale, dtype)
    if dtype not in MANTISSA:
        i = int(np.argmax(a != b))
        bad = bool((a != b).any())
        return Judged(bad, float(bad), i, f"is {a[i]}, there {b[i]} ({int((a != b).sum())} differ)")
    step = ulp(np.maximum(np.abs(a), np.abs(b)), dtype)
    with np.errstate(invalid="ignore"):
        apart = np.abs(a - b)
    if cls == "exact":
        return worst(a, b, apart / step, 0, "ulp")
    finite = np.abs(a[np.isfinite(a)])
    if cls == "special":
        if not case["origin"].startswith("made") and len(finite):       # a formula: its terms may cancel
            step = np.maximum(step, 2.0 ** -22 * finite.max())
        return worst(a, b, apart / step, special_limit(case, dtype, pack), "ulp")
    largest = np.maximum(np.abs(np.where(np.isfinite(s), s, 0)), np.maximum(np.abs(a), finite.max() if len(finite) and len(case["args"]) else 0))
    bits = dot_bits(case) if "dot" in case["ops"] else narrowest(case) - (3 if narrowest(case) > 20 else 1)
    limit = max(2.0 ** -bits, 2.0 ** -(MANTISSA[dtype] - (1 if MANTISSA[dtype] < 20 else 3)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return worst(a, b, apart / largest, limit, "of the sum of magnitudes")
