"""What verdicts say, as lines of tables."""
import collections
import re
import statistics


def table(title, pairs):
    """A 2 x 2 table of pairs (row, column) of booleans."""
    n = collections.Counter(pairs)
    print(f"  {title:44} both right {n[True, True]:5}   judge only {n[True, False]:4}   "
          f"truth only {n[False, True]:4}   both wrong {n[False, False]:5}")


def reasons(rows, limit):
    n = collections.Counter(key for key, _ in rows)
    for key, count in n.most_common(limit):
        names = [name for k, name in rows if k == key][:3]
        print(f"    {count:4} {key[:150]}: {' '.join(names)[:150]}")


def cpu_says(v):
    """The CPU judge's part of a verdict: only correct candidates reach the GPU."""
    return v["correct"] or (v["message"] or "").startswith(("on the GPU", "Triton does not compile"))


def rate(bench, verdicts, took):
    """Candidates a second with and without the start of the processes."""
    after = max(took - bench.started, 1e-3)
    return f"{len(verdicts) / took:.1f}/s in {took:.0f} s, {len(verdicts) / after:.1f}/s after {bench.started:.0f} s to the first verdict"


def rank(a):
    order, out = sorted(range(len(a)), key=a.__getitem__), [0.0] * len(a)
    for k, i in enumerate(order):
        out[i] = float(k)
    return out


def correlation(pairs):
    if len(pairs) < 3:
        return 0.0
    x, y = rank([a for a, _ in pairs]), rank([b for _, b in pairs])
    return statistics.correlation(x, y)


def level_of(row):
    found = re.search(r"level_?(\d)|l(\d)-", row["id"])
    return f"level {found[1] or found[2]}" if found else "other tasks"


def report_fast(bench, gpu, baselines):
    """Measured fast_p: the share of the programs that are faster than a baseline by the factor p, of those that
    were timed and of those that were judged."""
    times = [(v, bench.gpu_of(v)) for v in gpu.values() if v["correct"] and bench.gpu_of(v).get("time")]
    for baseline in baselines.split(","):
        ratio = [g["baselines"][baseline]["seconds"] / g["time"]["seconds"] for _, g in times if g["baselines"].get(baseline)]
        if ratio:
            fast = [(p, sum(x > p for x in ratio)) for p in (1, 1.2, 2)]
            print(f"    against {baseline:8}: {len(ratio):4} of {len(gpu)} timed, median {statistics.median(ratio):.2f}, of the timed " +
                  ", ".join(f"fast_{p:g} {n / len(ratio):.2f}" for p, n in fast) + "; of all " +
                  ", ".join(f"{n / len(gpu):.2f}" for p, n in fast))
    pairs = [(v["estimated_speedup"], g["baselines"]["eager"]["seconds"] / g["time"]["seconds"]) for v, g in times
             if v.get("estimated_speedup") and g["baselines"].get("eager")]
    if len(pairs) > 2:
        print(f"    estimate and measured speed-up against eager: rank correlation {correlation(pairs):.2f} over {len(pairs)}, "
              f"fast or slow right {sum((a >= 1) == (b >= 1) for a, b in pairs)}")


def report_levels(bench, rows, gpu, baselines):
    levels = sorted({level_of(r) for r in rows})
    for level in levels if len(levels) > 1 else []:
        part = {r["id"]: gpu[r["id"]] for r in rows if level_of(r) == level and r["id"] in gpu}
        print(f"   {level}: {len(part)} judged, {sum(v['correct'] for v in part.values())} correct")
        report_fast(bench, part, baselines)
    if len(levels) > 1:
        print("   all")
    report_fast(bench, gpu, baselines)
