"""Steps about single measurements: their variation, counters, KernelBench's evaluation of the same kernels."""
import collections
import json
import os
import statistics

from gpu_steps.rows import CHAIN, hash_of, kernel
from gpu_steps.tables import rate, reasons

REPEATS = 5
PLANTED = {"plain": 1000, "slow_3": 1030}


def timed_rows(bench):
    """The kernels whose variation is measured."""
    kernels = [r for r in bench.rows if r["kind"] == "honest" and r["track"] == "strict"]
    kernels = [r for r in kernels if 0 <= bench.bytes_of(r) <= 64 << 20]
    return kernels[::max(1, len(kernels) // 50)][:10 if bench.a.quick else 50]


def timed(bench):
    """Repeats are candidates of their own, which differ by a comment: each is loaded and measured anew."""
    bench.kernels = kernels = timed_rows(bench)
    own = [kernel(name, "pass" if bench.a.standin else CHAIN.replace("STEPS", str(n))) for name, n in PLANTED.items()]
    kernels.sort(key=lambda r: r["task"])           # a task is prepared once for all that share it
    rows = [(r, i) for i in range(REPEATS) for r in own] + [(r, i) for r in kernels for i in range(REPEATS)]
    rows = [{**r, "id": f"{r['id']}#{i}", "candidate": r["candidate"] + f"\n# {i}\n"} for r, i in rows]
    verdicts, took = bench.judge("timed", rows, share=0.8)
    times = collections.defaultdict(list)
    for name, v in verdicts.items():
        if bench.gpu_of(v).get("time"):
            times[name.rpartition("#")[0]].append(v["gpu"])
    report_planted(times.pop("plain", []), times.pop("slow_3", []))
    bench.times = times
    bench.timed_rate = rate(bench, verdicts, took)
    report_variation(times)
    print(f"  throughput, timed: {bench.timed_rate}")
    if not bench.can_run_python():
        return
    loop, _ = bench.truth("naive", kernels, "--workers", 1, "--naive", 5)
    plain = [statistics.stdev(v["naive"]) / statistics.mean(v["naive"]) for v in loop.values() if v.get("naive")]
    ratio = [statistics.mean(v["naive"]) * 1e-3 / statistics.mean(g["time"]["seconds"] for g in times[n])
             for n, v in loop.items() if v.get("naive") and times.get(n)]
    if plain:
        print(f"  a plain loop over {len(plain)} kernels x 5: median {100 * statistics.median(plain):.2f} %, worst {100 * max(plain):.2f} %; "
              f"its time over ours: median {statistics.median(ratio):.2f}")


def report_variation(times):
    cv = {name: statistics.stdev(g["time"]["seconds"] for g in v) / statistics.mean(g["time"]["seconds"] for g in v)
          for name, v in times.items() if len(v) > 1}
    if not cv:
        print("  nothing was timed")
        return
    order = sorted(cv.values())
    pairs = [(a["time"], b["time"]) for v in times.values() for a, b in zip(v, v[1:])]
    apart = sum(a["low"] > b["high"] or b["low"] > a["high"] for a, b in pairs)
    gaps = sorted(abs(a["seconds"] / b["seconds"] - 1.0) for a, b in pairs)
    print(f"  {len(cv)} kernels x {REPEATS}: coefficient of variation median {100 * statistics.median(order):.2f} %, 90th percentile "
          f"{100 * order[int(0.9 * len(order))]:.2f} %, worst {100 * order[-1]:.2f} % (aim 1 %): {max(cv, key=cv.get)}")
    print(f"  A/A: {apart} of {len(pairs)} intervals are apart; the means differ by {100 * statistics.median(gaps):.2f} % (median), {100 * gaps[-1]:.2f} % (most)")
    shares = sorted(g["dropped"] / max(1, g["samples"] + g["dropped"]) for v in times.values() for g in v)
    print(f"  samples dropped for a low clock: {100 * statistics.mean(shares):.1f} %; kernels with results that differ: "
          f"{sum(any(g.get('differing') for g in v) for v in times.values())}")


def report_planted(plain, slow):
    pairs = [(a["time"], b["time"]) for a, b in zip(plain, slow)]
    print(f"  3 % more work: seen {sum(b['low'] > a['high'] for a, b in pairs)} of {len(pairs)}; "
          f"measured {[round(b['seconds'] / a['seconds'], 4) for a, b in pairs]}")


def counters(bench):
    """Reads the profiler's counters of kernels whose traffic is known: inputs and results, once each."""
    rows = timed_rows(bench)[:10]
    verdicts, took = bench.judge("counters", [kernel("plain"), *rows], "--counters", "--trials", 10)
    read = {n: v for n, v in verdicts.items() if bench.gpu_of(v).get("counters")}
    print(f"  counters of {len(read)} of {len(verdicts)} candidates in {took:.0f} s")
    for name, v in read.items():
        g = v["gpu"]
        print(f"    {name}: {json.dumps(g['counters'])}; {g['time']['seconds'] * 1e6:.1f} us, memory's floor {g['floor_seconds'] * 1e6:.1f} us")
    reasons([(bench.gpu_of(v).get("counters_note") or v["message"] or "?", n) for n, v in verdicts.items() if n not in read], 5)


def peer(bench):
    if not bench.a.kernelbench or not bench.can_run_python():
        print("  no --kernelbench")
        return
    rows = getattr(bench, "kernels", None) or timed_rows(bench)
    rows = sorted(rows, key=lambda r: hash_of(r["id"]))
    found, took = bench.truth("peer", rows, script=("bench/gpu_peer.py", os.path.abspath(bench.a.kernelbench)))
    each = [v["seconds"] for v in found.values() if v.get("seconds")]
    times = getattr(bench, "times", {})
    print(f"  KernelBench's evaluation: {len(found)} candidates in {took:.0f} s, {len(found) / took:.2f}/s; "
          f"{statistics.median(each) if each else 0:.2f} s each (median, process included); ours, the same kernels: {getattr(bench, 'timed_rate', '?')}")
    print(f"  it finds {sum(v['correct'] for v in found.values())} of {len(found)} correct; ours timed {sum(n in times for n in found)} of them")
    ratio = sorted(v["ms"] * 1e-3 / statistics.mean(g["time"]["seconds"] for g in times[n]) for n, v in found.items()
                   if v["correct"] and v.get("ms", 0) > 0 and times.get(n))
    if ratio:
        print(f"  its time over ours: median {statistics.median(ratio):.2f}, from {ratio[0]:.2f} to {ratio[-1]:.2f} over {len(ratio)}")
    reasons([(v["why"][:140], n) for n, v in found.items() if not v["correct"]], 5)


def smoke(bench):
    rows = [r for r in bench.rows if r["kind"] == "honest" and r["track"] == "strict"]
    rows = [kernel("plain")] + [next(r for r in rows if word in r["candidate"]) for word in ("tl.dot(", "@triton.autotune")]
    verdicts, took = bench.judge("smoke", rows, "--baselines", "eager,tf32,compile")
    for name, v in verdicts.items():
        g = bench.gpu_of(v)
        print(f"  {name}: {v['verdict']} {v.get('reason')} speedup {v.get('speedup')}; gpu {json.dumps(g)[:420]} {(v.get('message') or '')[:300]}")
    print(f"  {took:.1f} s")
