"""Steps that measure no time: CPU judge, GPU judge, candidates run by Python, and labels."""
import os
import statistics

from gpu_steps.rows import hash_of
from gpu_steps.tables import correlation, cpu_says, rate, reasons, table


def agree(bench, track, rows):
    step = f"agreement {track}"
    gpu, took_gpu = bench.judge(f"gpu-{track}", rows, "--track", track, "--warmups", 0, "--trials", 0, share=0.55)
    ran = [v for v in gpu.values() if bench.gpu_of(v).get("ran")]
    print(f"  {len(rows)} candidates, {len(gpu)} verdicts, {len(ran)} ran on the GPU; {rate(bench, gpu, took_gpu)}")
    both = [r for r in rows if r["id"] in gpu]
    table("CPU judge (judge) and GPU judge (truth)", [(cpu_says(gpu[r["id"]]), gpu[r["id"]]["correct"]) for r in both])
    bad = [(f"{gpu[r['id']]['stage']} {gpu[r['id']]['reason']}: {gpu[r['id']]['message'][:140]}", r["id"]) for r in both
           if cpu_says(gpu[r["id"]]) and not gpu[r["id"]]["correct"]]
    reasons(bad, 10)
    bench.disagree(step, bad)
    bench.agreed.append((step, len(gpu), sum(cpu_says(v) for v in gpu.values()), len(ran), sum(v["correct"] for v in ran)))
    idle = [(bench.note(gpu[r["id"]]), r["id"]) for r in both if gpu[r["id"]]["correct"] and not bench.gpu_of(gpu[r["id"]]).get("ran")]
    print(f"  correct, but not run on the GPU: {len(idle)}")
    reasons(idle, 6)
    bench.disagree(step + ", not run", idle)
    return gpu


def run_truth(bench, track, rows, gpu):
    """Runs candidates by Python, without cheats, which may attack the process that runs them. Those that the
    CPU judge finds correct come first."""
    workers = min(12, max(2, (os.cpu_count() or 2) * 3 // 4))
    rows = [r for r in rows if r["kind"] != "cheat" and r["id"] in gpu]
    rows.sort(key=lambda r: (not cpu_says(gpu[r["id"]]), gpu[r["id"]]["correct"], hash_of(r["id"])))
    return [*bench.truth(f"truth-{track}", rows, "--workers", workers), workers]


def against_truth(bench, track, rows, gpu, truth, took, workers):
    print(f"  run by Python: {len(truth)} in {took:.0f} s, {len(truth) / took:.1f}/s with {workers} processes")
    for kind in ("honest", "control", "mutant"):
        known = [r for r in rows if r["kind"] == kind and r["id"] in gpu and truth.get(r["id"], {}).get("truth") in ("pass", "fail")]
        table(f"{kind}: judge with GPU, and run by Python", [(gpu[r["id"]]["correct"], truth[r["id"]]["truth"] == "pass") for r in known])
        bad = [(("accepted, wrong: " + truth[r["id"]]["why"][:100] if gpu[r["id"]]["correct"] else
                 f"refused, right: {gpu[r['id']]['stage']} {gpu[r['id']]['reason']}"), r["id"]) for r in known
               if gpu[r["id"]]["correct"] != (truth[r["id"]]["truth"] == "pass")]
        reasons(bad, 5)
        bench.disagree(f"{track} {kind} against Python", bad)


def agreement(bench, track="strict"):
    rows = [r for r in bench.rows if r.get("track") == track]
    order = {task: i for i, task in enumerate(sorted({r["task"] for r in rows}, key=hash_of))}
    # Large tasks last; else at random, so that the time limit leaves a sample.
    rows.sort(key=lambda r: (bench.bytes_of(r) > 16 << 20, bench.bytes_of(r) > 256 << 20, order[r["task"]], r["kind"]))
    if bench.a.quick:
        rows = rows[::max(1, len(rows) // 60)]
    gpu = agree(bench, track, rows)
    if not gpu:         # Python's results can be held against the CPU judge alone
        gpu, _ = bench.judge(f"cpu-{track}", rows, "--track", track, gpu=False, share=0.3)
    cheats = [r for r in rows if r["kind"] == "cheat" and r["id"] in gpu]
    print(f"  cheats: {len(cheats)}, accepted: {[r['id'] for r in cheats if gpu[r['id']]['correct']]}")
    truth, *how = run_truth(bench, track, rows, gpu) if bench.can_run_python() else ({}, 0, 0)
    bench.remember(track, rows, gpu, lambda r: False if r["kind"] == "cheat" else
                   {"pass": True, "fail": False}.get(truth.get(r["id"], {}).get("truth")))
    if truth:
        against_truth(bench, track, rows, gpu, truth, *how)


def hybrid(bench):
    agreement(bench, "hybrid")


def labelled_check(bench):
    """All rows with labels, without timing: large tasks last, else in random order."""
    rows = [r for r in bench.rows if r["kind"] == "written"]
    rows.sort(key=lambda r: (not 0 <= bench.bytes_of(r) <= 1 << 30, bench.bytes_of(r) > 4 << 30, hash_of(r["task"])))
    report_labelled(bench, "labelled_check", rows, "--warmups", 0, "--trials", 0)


def labelled(bench):
    rows = [r for r in bench.rows if r["kind"] == "written"]
    good = [r for r in rows if (r.get("gpu") == "pass" or hash_of(r["id"]) % 6 == 0) and 0 <= bench.bytes_of(r) <= 1 << 30]
    good.sort(key=lambda r: (bench.bytes_of(r), r["task"]))
    print(f"  {len(good)} of {len(rows)}: those that pass by their label and a sixth of the others, with inputs of at most 1 GiB, smallest first")
    report_labelled(bench, "labelled", good, "--warmups", 5, "--trials", 20, "--baselines", "eager,tf32")


def report_labelled(bench, step, good, *options):
    if not good:
        print("  no --candidates")
        return
    if bench.a.quick:
        good = good[::max(1, len(good) // 20)]
    gpu, took = bench.judge(f"gpu-{step}", good, "--track", "hybrid", "--precision", "tf32", *options)
    ran = [r for r in good if bench.gpu_of(gpu.get(r["id"], {})).get("ran")]
    print(f"  {len(gpu)} verdicts, {len(ran)} ran; {rate(bench, gpu, took)}")
    right = [gpu[r["id"]] for r in ran]
    bench.agreed.append((step, len(gpu), sum(cpu_says(v) for v in gpu.values()), len(ran), sum(v["correct"] for v in right)))
    bench.remember(step, good, gpu, lambda r: {"pass": True, "fail": False}.get(r.get("gpu")))
    known = [r for r in good if r["id"] in gpu and r.get("gpu") in ("pass", "fail")]
    table("CPU judge, and the labels", [(cpu_says(gpu[r["id"]]), r["gpu"] == "pass") for r in known])
    names = {r["id"] for r in ran}
    bench.disagree(f"{step}, judge and label", [(f"label {r['gpu']}, CPU {cpu_says(gpu[r['id']])}, GPU {gpu[r['id']]['correct']}, ran "
                   f"{r['id'] in names}: {gpu[r['id']]['reason']} {(gpu[r['id']]['message'] or '')[:160]}", r["id"]) for r in known
                   if len({r["gpu"] == "pass", cpu_says(gpu[r["id"]]), gpu[r["id"]]["correct"]}) > 1])
    known = [r for r in known if r["id"] in names or not gpu[r["id"]]["correct"]]
    table("GPU judge, and the labels", [(gpu[r["id"]]["correct"], r["gpu"] == "pass") for r in known])
    reasons([(f"{gpu[r['id']]['stage']} {gpu[r['id']]['reason']}: {(gpu[r['id']]['message'] or '')[:140]}", r["id"]) for r in good
             if r["id"] in gpu and not gpu[r["id"]]["correct"] and cpu_says(gpu[r["id"]])], 10)
    reasons([(bench.note(gpu[r["id"]]), r["id"]) for r in good if r["id"] in gpu and gpu[r["id"]]["correct"] and r["id"] not in names], 6)
    timed = [r for r in ran if gpu[r["id"]]["gpu"].get("time") and gpu[r["id"]]["correct"]]
    ours = [(gpu[r["id"]]["gpu"]["time"]["seconds"] * 1e3, r["gpu_ms"]) for r in timed if r.get("gpu_ms")]
    if ours:
        ratios = sorted(a / b for a, b in ours)
        print(f"  our milliseconds over the labels': median {statistics.median(ratios):.2f}, from {ratios[0]:.2f} to {ratios[-1]:.2f}, rank correlation {correlation(ours):.3f} over {len(ours)}")
    # With --precision tf32 the estimate is against the reference in tf32.
    pairs = [(v["estimated_speedup"], v["gpu"]["baselines"]["tf32"]["seconds"] / v["gpu"]["time"]["seconds"]) for v in (gpu[r["id"]] for r in timed)
             if v.get("estimated_speedup") and v["gpu"]["baselines"].get("tf32")]
    if pairs:
        print(f"  estimate and measured speed-up, against tf32: rank correlation {correlation(pairs):.2f} over {len(pairs)}; fast or slow right {sum((a >= 1) == (b >= 1) for a, b in pairs)}")
