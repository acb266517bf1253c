"""The step with kernels that hang, crash and take too much memory."""
import os

from gpu_steps.rows import ROOT, kernel

# A compiler for the judge that gives kernels named fault_* another body, with the real Triton. The
# CPU judge sees a correct kernel.
FAULTY = '''#!%s
import sys
source = open(%r).read()
space = {"__name__": "worker"}
exec(compile(source, "compile_worker.py", "exec"), space)
BODIES = {
    "fault_hang": "    t = tl.sum(tl.load(x + i, mask=i < n, volatile=True) * 0.0, 0)\\n    while t < 1.0:\\n"
                  "        t = tl.sum(tl.load(x + i, mask=i < n, volatile=True) * 0.0, 0)\\n    tl.store(out + i, v + t, mask=i < n)\\n",
    "fault_illegal": "    tl.store(out + i + (1 << 40), v, mask=i < n)\\n",
    "fault_red_zone": "    tl.store(out + i - 1, v, mask=i < n)\\n",
    "fault_trap": "    v = tl.inline_asm_elementwise('trap; mov.b32 $0, $1;', '=r,r', [v], dtype=tl.float32, is_pure=False, pack=1)\\n"
                  "    tl.store(out + i, v, mask=i < n)\\n",
}
plain = space["compile_request"]


def compile_request(request, language, capability):
    function = request["functions"][0]
    body = BODIES.get(function["name"])
    if body:
        at = function["source"].rindex("    tl.store")
        function["source"] = function["source"][:at] + body
    meta, code = plain(request, language, capability)
    return {**meta, "scratch_bytes": 1 << 30} if function["name"] == "fault_memory" else meta, code


space["compile_request"] = compile_request
space["main"](sys.argv[1:])
'''


def faults(bench):
    bad = {40: "fault_hang", 70: "fault_illegal", 100: "fault_die" if bench.a.standin else "fault_trap", 120: "fault_red_zone",
           150: "fault_memory"}
    rows = []
    for i in range(200):
        row = kernel(bad.get(i, f"good_{i}"))
        rows.append({**row, "id": f"{row['id']}-{i}"})
    extra = []
    if not bench.a.standin:
        path = f"{bench.folder}/faulty"
        with open(path, "w") as f:
            f.write(FAULTY % (bench.python, str(ROOT / "python/tritonrl/compile_worker.py")))
        os.chmod(path, 0o755)
        extra = ["--gpu-compiler", path]
    verdicts, took = bench.judge("faults", rows, "--warmups", 0, "--trials", 2, "--gpu-timeout", 4, "--gpu-torch", "none", *extra)
    print(f"  {len(verdicts)} verdicts for 200 candidates in {took:.0f} s")
    for name, v in verdicts.items():
        if not v["correct"] or not bench.gpu_of(v).get("ran"):
            print(f"    {name}: {v['stage']} {v['reason']}: {(v['message'] or '')[:130]} {bench.note(v) if v['correct'] else ''}")
