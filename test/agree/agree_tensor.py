"""Dtype conversions against PyTorch, bit for bit.

All 2^16 patterns of the 16-bit floats and all 2^8 of the 8-bit ones into every dtype, and
float32/float64/int64 samples (every half-way case of the 16-bit types, powers of two,
extremes, random bits) into every dtype. NaNs compare as NaN: PyTorch's own scalar and vector
paths give different payloads. Float to integer out of range is undefined in C and differs
between PyTorch's paths, so only values in range are compared there.
"""
import subprocess, sys, os
import torch

TOOL = os.environ.get("TENSOR_CONVERT", "build/release/tool/tensor_convert")
NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float8_e4m3fn", "float8_e5m2",
         "float16", "bfloat16", "float32", "float64"]
RANGE = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-2**15, 2**15 - 1),
         "int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 2**11)}


def convert(t, to):
    raw = t.contiguous().view(torch.uint8).numpy().tobytes()
    src = str(t.dtype).split(".")[1]
    out = subprocess.run([TOOL, src, to], input=raw, capture_output=True, check=True).stdout
    dt = getattr(torch, to)
    return torch.frombuffer(bytearray(out), dtype=torch.uint8).view(dt) if out else torch.empty(0, dtype=dt)


def patterns(name):
    dt = getattr(torch, name)
    if dt.itemsize == 2:
        return torch.arange(-2**15, 2**15, dtype=torch.int32).to(torch.int16).view(dt)
    return torch.arange(0, 256, dtype=torch.int32).to(torch.uint8).view(dt)


def samples():
    g = torch.Generator().manual_seed(7)
    bits = torch.randint(-2**31, 2**31, (200000,), generator=g).to(torch.int32).view(torch.float32)
    halves = []
    for n in ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"):
        v = patterns(n).to(torch.float32)
        v = v[v.isfinite()].sort().values
        mid = ((v[1:].double() + v[:-1].double()) / 2).float()
        halves += [v, mid, torch.nextafter(mid, torch.tensor(1e38)), torch.nextafter(mid, torch.tensor(-1e38))]
    f = torch.cat([bits, *halves, torch.tensor([448., 464., 479.9, 480., 1e9, 57344., 61440., 65504., 65519.9, 65520., 65536.])])
    d = torch.cat([f.double(), torch.randn(50000, generator=g, dtype=torch.float64) * 1e4])
    i = torch.randint(-2**62, 2**62, (100000,), generator=g) >> torch.randint(0, 62, (100000,), generator=g)
    return f, d, i


def same(got, want):
    if want.dtype.is_floating_point:
        nan = want.float().isnan() if want.dtype != torch.float64 else want.isnan()
        gnan = got.float().isnan() if want.dtype != torch.float64 else got.isnan()
        ok = (nan & gnan) | (got.view(torch.uint8).view(-1, want.dtype.itemsize) ==
                             want.view(torch.uint8).view(-1, want.dtype.itemsize)).all(1)
    else:
        ok = got == want
    return ok


def main():
    total = bad = 0
    inputs = [patterns(n) for n in NAMES if n.startswith(("float8", "float16", "bfloat16"))]
    inputs += list(samples())
    inputs += [torch.arange(-128, 128, dtype=torch.int8), torch.arange(256).to(torch.uint8), torch.tensor([True, False])]
    for t in inputs:
        for to in NAMES:
            v = t
            if t.dtype.is_floating_point and to in RANGE:
                lo, hi = RANGE[to]
                w = t.double()
                v = t[(w.trunc() >= lo) & (w.trunc() <= hi)]
            want = v.to(getattr(torch, to))
            ok = same(convert(v, to), want)
            total += v.numel()
            n = int((~ok).sum())
            if n:
                i = int((~ok).nonzero()[0])
                print(f"FAIL {t.dtype} -> {to}: {n} of {v.numel()}, first {v[i]} got {convert(v, to)[i]} want {want[i]}")
            bad += n
    print(f"agree_tensor: {total} conversions compared, {bad} differ")
    sys.exit(bad != 0)


main()
