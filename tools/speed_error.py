#!/usr/bin/env python3
"""Compares estimated speed-ups with measured ones.

usage: speed_error.py MEASURED.jsonl[.gz] ESTIMATED.jsonl

MEASURED has rows with `id` (LEVEL/PROBLEM_NAME/NUMBER), `gpu_ms`, `reference_ms` and `reference_tf32_ms`, from a GPU.
ESTIMATED is the output of build/release/tool/speed_estimate or `tritonrl verify --json` for the same ids. Problems
whose number halved is even were fitted (src/tile/estimate/speed.def), the others were not. Printed for each half, against
the reference as PyTorch runs it and in tf32: rank correlation, how often fast or slow is right, and the spread:
exp of the standard deviation of log(estimated / measured), which is `error` in speed.def.
"""
import gzip
import json
import math
import sys


def rows(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        return [json.loads(line) for line in f]


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    out, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            out[order[k]] = (i + j) / 2
        i = j + 1
    return out


def correlation(a, b):
    x, y = ranks(a), ranks(b)
    mean = (len(x) - 1) / 2
    both = sum((p - mean) * (q - mean) for p, q in zip(x, y))
    spread = math.sqrt(sum((p - mean) ** 2 for p in x) * sum((q - mean) ** 2 for q in y))
    return both / spread if spread else 0.0


def speedups(row):
    """Estimated against the plain reference and the one in tf32; None: not known."""
    if "speedup" in row:
        known = row["speedup"] if row.get("speedup_is") == "estimate" else None
        return (None, known) if row["precision"] == "tf32" else (known, None)
    seconds, reference = row["candidate"]["seconds"], row["reference"]
    return (reference["seconds"] / seconds, reference["tf32_seconds"] / seconds) if seconds else (None, None)


def fitted(name):
    return int(name.split("/")[1].split("_")[0]) // 2 % 2 == 0


def main():
    measured = {r["id"]: r for r in rows(sys.argv[1]) if r.get("gpu_ms")}
    estimated = {r["id"]: speedups(r) for r in rows(sys.argv[2]) if r["id"] in measured}
    for which, key in enumerate(("reference_ms", "reference_tf32_ms")):
        for half, chosen in (("fitted", fitted), ("not fitted", lambda i: not fitted(i))):
            ids = [i for i in estimated if chosen(i) and estimated[i][which]]
            if len(ids) < 3:
                continue
            guess = [estimated[i][which] for i in ids]
            truth = [measured[i][key] / measured[i]["gpu_ms"] for i in ids]
            logs = [math.log(g / t) for g, t in zip(guess, truth)]
            mean = sum(logs) / len(logs)
            spread = math.exp(math.sqrt(sum((v - mean) ** 2 for v in logs) / len(logs)))
            right = sum((g >= 1) == (t >= 1) for g, t in zip(guess, truth))
            print(f"{key[:-3]}, problems that were {half}: {len(ids)} kernels, rank correlation {correlation(guess, truth):.2f}, "
                  f"fast or slow right {100 * right / len(ids):.0f} %, spread {spread:.2f}, bias {math.exp(mean):.2f}")


if __name__ == "__main__":
    main()
