#!/bin/bash
# The GPU judge against a stand-in for CUDA's driver: verify --device cuda from the launch plan
# through compiler, runner and comparison to a measured time; faults cost one verdict each.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "gpu.sh: $*"; exit 1; }
export XDG_CACHE_HOME=$tmp/cache
standin=$BUILD_DIR/standin/libcuda_standin.so
fake=$BUILD_DIR/tool/fake_compiler
[ -f "$standin" ] || { echo "skip: the stand-in driver is not built"; exit 77; }
gpu=(--device cuda --gpu-driver "$standin" --gpu-compiler "$fake" --gpu-torch none)

python3 - "$tmp" <<'END'
import sys
folder = sys.argv[1]

TASK = '''import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.linear = nn.Linear(n, n)

    def forward(self, x):
        return torch.relu(self.linear(x)) * 2.0


def get_inputs():
    return [torch.randn(96, 40)]


def get_init_inputs():
    return [40]
'''
KERNEL = '''import torch
import torch.nn as nn
import triton
import triton.language as tl

SCALE = tl.constexpr(2.0)


@triton.jit
def scaled(v):
    return tl.maximum(v, 0.0) * SCALE


@triton.jit
def NAME(x, w, b, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        a = tl.load(x + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        c = tl.load(w + n[None, :] * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc += tl.dot(a, c, input_precision="ieee")
    acc += tl.load(b + n, mask=n < N, other=0.0)[None, :]
    tl.store(out + m[:, None] * N + n[None, :], scaled(acc), mask=(m[:, None] < M) & (n[None, :] < N))


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.linear = nn.Linear(n, n)

    def forward(self, x):
        M, K = x.shape
        N = self.linear.weight.shape[0]
        out = torch.empty((M, N), device=x.device, dtype=x.dtype)
        grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
        NAME[grid](x, self.linear.weight, self.linear.bias, out, M, N, K, BM=32, BN=32, BK=16)
        return out
'''
open(f"{folder}/task.py", "w").write(TASK)
names = ["good", "fast_lie_product", "cheat_phase", "cheat_replay", "cheat_warmup", "cheat_persist", "cheat_late", "good_slow_3", "fault_illegal", "fault_hang", "fault_red_zone", "fault_die", "compile_refuse",
         "compile_crash", "compile_malformed"]
for name in names:
    open(f"{folder}/{name}.py", "w").write(KERNEL.replace("NAME", name))
# A view that is not contiguous is copied, and the result is a transposed view.
open(f"{folder}/copied.py", "w").write(KERNEL.replace("NAME", "copied").replace(
    "        return out\n", "        return out.t().contiguous().t()\n"))
# An accumulating kernel needs its zeros.
open(f"{folder}/atomic.py", "w").write(KERNEL.replace("NAME", "atomic").replace("torch.empty(", "torch.zeros(").replace(
    "    tl.store(out + m[:, None] * N + n[None, :], scaled(acc), mask", "    tl.atomic_add(out + m[:, None] * N + n[None, :], scaled(acc), mask"))
# An autotuned kernel: each configuration is measured.
open(f"{folder}/tuned.py", "w").write(KERNEL.replace("NAME", "tuned").replace("@triton.jit\ndef tuned", '''@triton.autotune(
    configs=[triton.Config({"BM": 32, "BN": 32}, num_warps=4), triton.Config({"BM": 16, "BN": 16}, num_warps=2)],
    key=["M", "N", "K"])
@triton.jit
def tuned''').replace(", BM=32, BN=32, BK=16", ", BK=16").replace("triton.cdiv(M, 32), triton.cdiv(N, 32))", '''1, 1)
        grid = lambda meta: (triton.cdiv(M, meta["BM"]), triton.cdiv(N, meta["BN"]))'''))
# The hybrid track: a torch operator computes, which a plan cannot express.
open(f"{folder}/hybrid.py", "w").write(KERNEL.replace("NAME", "hybrid").replace(
    "        M, K = x.shape", "        x = torch.nn.functional.linear(x, self.linear.weight.abs() * 0 + torch.eye(40, device=x.device))\n        M, K = x.shape"))
END

# field FILE EXPRESSION: a value of the verdict of a candidate
field() { python3 -c 'import json,sys; j=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$tmp/$1.json" "$2"; }
judge() { # NAME OPTION...
	local name=$1
	shift
	"$TRITONRL" verify "$tmp/$name.py" --task "$tmp/task.py" --json --quiet "${gpu[@]}" "$@" >"$tmp/$name.json" 2>"$tmp/err" || true
	[ -s "$tmp/$name.json" ] || fail "$name: no verdict: $(cat "$tmp/err")"
}

judge good
[ "$(field good 'j["correct"], j["gpu"]["ran"], j["gpu"]["device"], j["gpu"]["triton"]')" = "(True, True, 'stand-in H200', 'stand-in')" ] ||
	fail "a correct candidate: $(cat "$tmp/good.json")"
[ "$(field good '20e-6 < j["gpu"]["time"]["seconds"] < 22e-6 and j["gpu"]["time"]["low"] < j["gpu"]["time"]["high"]')" = True ] || fail "its time"
[ "$(field good 'j["gpu"]["samples"] >= 20 and j["gpu"]["dropped"] >= 1 and j["gpu"]["differing"] == 0')" = True ] || fail "its samples: $(field good 'j["gpu"]')"
[ "$(field good 'j["timed"], j["speedup_is"]')" = "('model', 'estimate')" ] || fail "a speed-up without a measured baseline is not an estimate"

# A planted slowdown of 3 % is seen; the same program twice shows no difference.
judge good_slow_3
slow=$(field good_slow_3 'j["gpu"]["time"]["low"]') fast=$(field good 'j["gpu"]["time"]["high"]')
python3 -c "import sys; sys.exit(not $slow > $fast)" || fail "3 % slower is not seen: $slow against $fast"
cp "$tmp/good.json" "$tmp/first.json"
judge good
python3 -c "
import json
a, b = (json.load(open('$tmp/' + n))['gpu']['time'] for n in ('first.json', 'good.json'))
raise SystemExit(not (a['low'] <= b['high'] and b['low'] <= a['high']))" || fail "the same program twice differs"

for name in copied atomic tuned; do
	judge $name
	[ "$(field $name 'j["correct"], j["gpu"]["ran"], j["gpu"]["note"]')" = "(True, True, None)" ] || fail "$name: $(field $name 'j["message"], j["gpu"]')"
done
[ "$(field tuned 'j["gpu"]["configs"], j["gpu"]["configs_left"]')" = "(2, 0)" ] || fail "configurations of an autotuned kernel: $(field tuned 'j["gpu"]')"

# Configurations share one budget. Without time the first is tried alone.
judge tuned --gpu-tuning 0
[ "$(field tuned 'j["correct"], j["gpu"]["configs"], j["gpu"]["configs_left"]')" = "(True, 1, 1)" ] || fail "no time for tuning: $(field tuned 'j["gpu"]')"

# Kernels that behave on the GPU as they did not on the CPU. Results that are missing once timing has begun, or at
# other addresses, are found, because each timed call is checked and input sets alternate.
for name in cheat_phase cheat_replay; do
	judge $name
	[ "$(field $name 'j["correct"], j["reason"] in ("mismatch", "not_finite"), j["stage"]')" = "(False, True, 'full')" ] || fail "$name: $(field $name 'j["reason"], j["message"], j["gpu"]')"
done
# Slow warm-ups and lines that stay in the cache earn nothing: the time is that of the honest kernel.
for name in cheat_warmup cheat_persist; do
	judge $name
	[ "$(field $name '20e-6 < j["gpu"]["time"]["seconds"] < 22e-6, j["gpu"]["samples"] >= 20')" = "(True, True)" ] || fail "$name: $(field $name 'j["gpu"]')"
done
# Work that goes on behind the last event is seen by the clock of the host, and nothing is measured.
judge cheat_late
[ "$(field cheat_late 'j["gpu"]["time"], j["timed"], "disagrees" in j["gpu"]["note"]')" = "(None, 'model', True)" ] || fail "cheat_late: $(field cheat_late 'j["gpu"]')"

# A matrix product in tf32 whose error KernelBench's rule does not see passes under torch, as on the CPU, and not under ieee.
for precision in torch ieee; do
	"$TRITONRL" verify test/honest/linear_div_tf32.py --task test/honest/tasks/linear_div.py --json --quiet --no-general \
		--precision $precision "${gpu[@]}" >"$tmp/close.json" 2>"$tmp/err" || true
	want="(True, True)"
	[ $precision = torch ] || want="(False, False)"
	[ "$(field close 'j["correct"], bool(j["gpu"] and j["gpu"]["ran"])')" = "$want" ] || fail "tf32 under $precision: $(cat "$tmp/close.json")"
done

# Faults: each has its reason, and the candidate is no longer correct.
check_fault() { # NAME REASON STAGE
	judge "$1" --gpu-timeout 2
	[ "$(field "$1" 'j["correct"], j["reason"], j["stage"]')" = "(False, '$2', '$3')" ] || fail "$1: $(field "$1" 'j["reason"], j["stage"], j["message"]')"
}
check_fault fault_illegal out_of_bounds full
check_fault fault_hang kernel_timeout full
check_fault fault_red_zone out_of_bounds full
check_fault fault_die worker_crashed full
check_fault compile_refuse unsupported_syntax compile
check_fault compile_crash unsupported_syntax compile
check_fault compile_malformed unsupported_syntax compile
STANDIN_MEMORY=2100000 check_fault good out_of_memory full

# A time that the memory of the GPU does not allow is a cheat: no reward.
python3 - "$tmp" <<'END'
import importlib.util, sys
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("rows", "bench/gpu_steps/rows.py")
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)
open(f"{sys.argv[1]}/wide.py", "w").write(bench.TASK)
open(f"{sys.argv[1]}/fast_lie.py", "w").write(bench.kernel("fast_lie")["candidate"])
open(f"{sys.argv[1]}/wide_good.py", "w").write(bench.kernel("wide_good")["candidate"])
END
"$TRITONRL" verify "$tmp/fast_lie.py" --task "$tmp/wide.py" --json --quiet "${gpu[@]}" >"$tmp/fast_lie.json" 2>"$tmp/err" || true
[ "$(field fast_lie 'j["correct"], j["reason"], j["stage"], j["reward"]')" = "(False, 'too_fast', 'timing', 0.0)" ] ||
	fail "an impossible time: $(cat "$tmp/fast_lie.json" "$tmp/err")"
# So is a time in which the matrix products cannot be computed, however little the memory moves.
judge good
[ "$(field good 'j["gpu"]["floor_seconds"], 0 < j["gpu"]["product_floor_seconds"] < j["gpu"]["time"]["seconds"]')" = "(0.0, True)" ] || fail "floors: $(field good 'j["gpu"]')"
"$TRITONRL" verify "$tmp/good.py" --task "$tmp/task.py" --explain --quiet "${gpu[@]}" >"$tmp/explain" 2>"$tmp/err" || true
grep -q "matrix products need .* of the GPU's peak" "$tmp/explain" || fail "--explain: $(cat "$tmp/explain" "$tmp/err")"
judge fast_lie_product
[ "$(field fast_lie_product 'j["correct"], j["reason"], "matrix products" in j["message"], j["reward"]')" = "(False, 'too_fast', True, 0.0)" ] ||
	fail "products in no time: $(field fast_lie_product 'j["reason"], j["message"], j["gpu"]')"

# Without Triton or without a GPU nothing passes, and that is said.
judge good --gpu-compiler /nonexistent
[ "$(field good 'j["correct"], j["gpu"]["ran"], "cannot be started" in j["gpu"]["note"]')" = "(True, False, True)" ] || fail "no compiler: $(field good 'j["gpu"]')"
# A runner that cannot start is our failure, not the candidate's.
judge hybrid --track hybrid --gpu-torch cpu --gpu-python /bin/false
[ "$(field hybrid 'j["correct"], j["gpu"]["ran"], "ended when it started" in j["gpu"]["note"]')" = "(True, False, True)" ] ||
	fail "no PyTorch for a hybrid candidate: $(field hybrid 'j["reason"], j["message"], j["gpu"]')"
rc=0; "$TRITONRL" verify "$tmp/good.py" --task "$tmp/task.py" --device cuda --gpu-driver /nonexistent.so >/dev/null 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q "driver cannot be loaded" "$tmp/err" || fail "no driver: exit $rc, $(cat "$tmp/err")"
rc=0; "$TRITONRL" verify "$tmp/good.py" --task "$tmp/task.py" --device gpu >/dev/null 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q "cpu, cuda or cuda:N" "$tmp/err" || fail "a wrong device: exit $rc"

# 200 candidates of three tasks on three benches, with a hang, an illegal access, a death and a write outside of a
# tensor in the middle: 200 verdicts, and only the faulty ones fail. With --unordered the hang holds back no other verdict.
python3 - "$tmp" >"$tmp/many.jsonl" <<'END'
import json, sys
folder = sys.argv[1]
task, good = open(f"{folder}/task.py").read(), open(f"{folder}/good.py").read()
for i in range(200):
    name = {50: "fault_hang", 90: "fault_illegal", 120: "fault_die", 121: "compile_crash", 150: "fault_red_zone"}.get(i, "good")
    print(json.dumps({"id": f"{name}-{i}", "task": task + f"# task {i // 20 % 3}\n", "candidate": open(f"{folder}/{name}.py").read() + f"# {i}\n"}))
END
"$TRITONRL" verify --jsonl "$tmp/many.jsonl" --out "$tmp/many" --unordered --quiet "${gpu[@]}" --gpu-benches 3 --gpu-timeout 2 --warmups 1 --trials 2 2>"$tmp/err" || true
python3 - "$tmp/many" <<'END' || fail "200 candidates with faults: $(cat "$tmp/err")"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert len({row["id"] for row in rows}) == len(rows) == 200, len(rows)
order = [int(row["id"].rpartition("-")[2]) for row in rows]
assert order != sorted(order), order
for row in rows:
    good = row["id"].startswith("good")
    assert row["correct"] == good and (not good or row["gpu"]["ran"]), (row["id"], row["reason"], row["gpu"])
END
# Calls that need much of the GPU's memory, between small ones, on three benches: each is measured.
python3 - "$tmp" >"$tmp/large.jsonl" <<'END'
import json, sys
text = {name: open(f"{sys.argv[1]}/{name}.py").read() for name in ("wide", "wide_good", "task", "good")}
for i in range(24):
    task, candidate = ("wide", "wide_good") if i % 4 == 1 else ("task", "good")
    print(json.dumps({"id": f"{candidate}-{i}", "task": text[task] + f"# {i % 5}\n", "candidate": text[candidate] + f"# {i}\n"}))
END
STANDIN_MEMORY=40000000 "$TRITONRL" verify --jsonl "$tmp/large.jsonl" --out "$tmp/large" --quiet "${gpu[@]}" --gpu-benches 3 --warmups 1 --trials 2 2>"$tmp/err" || true
python3 -c 'import json,sys; rows=[json.loads(x) for x in open(sys.argv[1])]; sys.exit(len(rows) != 24 or not all(r["correct"] and r["gpu"]["time"] for r in rows))' "$tmp/large" ||
	fail "large calls: $(cat "$tmp/err") $(cut -c1-300 "$tmp/large")"
# Training and evaluation send the correct answers of a model to the GPU.
sed -n "7p;20p" tasks/plain/test_level2.jsonl >"$tmp/tasks.jsonl"
slot=(--judge-device cuda "${gpu[@]:2}" --warmups 1 --trials 4)
model=(--model models/base --tasks "$tmp/tasks.jsonl" --n 6 --max-new-tokens 400 --slots 8 --prompt-style compact
	--threads 1 --workers 1 --temperature 1.2)
"$TRITONRL" train --stage rl "${model[@]}" --out "$tmp/rl" --rl-steps 1 --tasks-per-step 2 --max-length 1024 --weights fast --no-curriculum --lora-dropout 0 \
	--method grpo "${slot[@]}" >"$tmp/out" 2>&1 || fail "rl: $(cat "$tmp/out")"
python3 - "$tmp/rl" <<'END' || fail "rl measured nothing: $(cat "$tmp/out")"
import json, pathlib, sqlite3, sys
stores = list(pathlib.Path(sys.argv[1]).rglob("*.db"))
texts = [row[0] for store in stores for row in sqlite3.connect(store).execute("select verdict from sample") if row[0]]
verdicts = [json.loads(text) for text in texts]
assert any(v["correct"] for v in verdicts)
assert all(v["gpu"]["time"] for v in verdicts if v["correct"])
END
# The process of the GPU judge writes into the log of the run, not into a file that took its descriptor.
grep -q "the GPU judge: .* candidates in" "$tmp/rl/training.log" || fail "no line of the GPU judge in training.log"
"$TRITONRL" eval "${model[@]}" --out "$tmp/eval.json" "${slot[@]}" >"$tmp/out" 2>&1 || fail "eval: $(cat "$tmp/out")"
python3 - "$tmp/eval.json" <<'END' || fail "eval: $(cat "$tmp/out")"
import json, sys
measured = json.load(open(sys.argv[1]))["measured"]
assert measured["device"] == "stand-in H200" and "fast_1" in measured["estimate"] and "fast_1.2" in measured["estimate"], measured
END
grep -q "the estimate of the same answers: fast_1 .*, fast_1.2 .*, fast_2 " "$tmp/out" || fail "eval prints no fast_p beside the estimate: $(cat "$tmp/out")"
echo "gpu.sh: passed"
