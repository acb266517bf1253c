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


def dot_bits(case):
    """Bits to which products and sums of a dot are kept."""
    text = case["ops"]
    types = {a["dtype"] for a in case["args"] if a["kind"] == "tensor"}
    if types & {"fp8e4nv", "fp8e5"} or "dot_scaled" in text or "fp8" in text:
        return 11
    if re.search(r"dot:fp32:1;", text) and "fp32" in types:
        return 9
    if re.search(r"dot:fp16", text):
        return 10
    if re.search(r"dot:fp64", text) and "fp32" not in types:
        return 45
    return 19


def judge(case, arg, ours, theirs, scale, on_gpu):
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
    if cls == "special":
        return worst(a, b, apart / step, 4 if dtype in ("fp32", "fp64") else 1, "ulp")
    finite = np.abs(a[np.isfinite(a)])
    largest = np.maximum(np.abs(np.where(np.isfinite(s), s, 0)), np.maximum(np.abs(a), finite.max() if len(finite) and len(case["args"]) else 0))
    bits = dot_bits(case) if cls == "dot" else 19 if "fp64" not in case["ops"] or "fp32" in case["ops"] else 45
    limit = max(2.0 ** -bits, 2.0 ** -(MANTISSA[dtype] - (1 if MANTISSA[dtype] < 20 else 3)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return worst(a, b, apart / largest, limit, "of the sum of magnitudes")
