#!/bin/bash
# Counters of the profiler against stand-ins for CUDA's driver and CUPTI: values in the verdict, in --explain and in
# the feedback; and what is said where they cannot be read.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "gpu_counters.sh: $*"; exit 1; }
export XDG_CACHE_HOME=$tmp/cache
standin=$BUILD_DIR/standin/libcuda_standin.so
[ -f "$standin" ] || { echo "skip: the stand-in driver is not built"; exit 77; }
gpu=(--device cuda --gpu-driver "$standin" --gpu-compiler "$BUILD_DIR/tool/fake_compiler" --gpu-torch none --warmups 0 --trials 4)

python3 - "$tmp" <<'END'
import importlib.util, sys
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("rows", "bench/gpu_steps/rows.py")
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)
open(f"{sys.argv[1]}/task.py", "w").write(bench.TASK)
one = bench.kernel("one")["candidate"]
open(f"{sys.argv[1]}/one.py", "w").write(one)
# Two launches of a kernel, the second over the first one's result, and a copy by the judge's own kernel.
two = one.replace("        return out\n", "        last = torch.empty_like(a)\n"
                  "        one[(triton.cdiv(out.numel(), 256),)](out, b, last, out.numel(), 1, B=256)\n"
                  "        return last.t().contiguous().t()\n")
open(f"{sys.argv[1]}/two.py", "w").write(two)
open(f"{sys.argv[1]}/two_task.py", "w").write(bench.TASK.replace("return a + b", "return a + b + b"))
END

# doctor tries the counters, and says what is missing.
# counters_of FAULT LIBRARY TEXT
counters_of() {
	STANDIN_CUPTI=$1 "$TRITONRL" doctor --gpu-driver "$standin" --gpu-cupti "$2" >"$tmp/doctor" 2>&1 || true
	grep -A1 "gpu counters" "$tmp/doctor" | grep -q -- "$3" || fail "doctor with '$1' of $2: $(cat "$tmp/doctor")"
}
counters_of "" "$standin" "^ok .*reads dram_read_bytes, dram_written_bytes, tensor_percent, occupancy_percent$"
counters_of lacking "$standin" "the GPU lacks tensor_percent"
counters_of denied "$standin" "^absent .*only administrators"
counters_of denied "$standin" "-> .*NVreg_RestrictProfilingToAdminUsers=0"
counters_of "" /nonexistent.so "^absent .*libcupti. is not there"

# judge CANDIDATE TASK FAULT EXPRESSION WANTED OPTION...
judge() {
	local candidate=$1 task=$2 fault=$3 expression=$4 wanted=$5 got
	shift 5
	STANDIN_CUPTI=$fault "$TRITONRL" verify "$tmp/$candidate.py" --task "$tmp/$task.py" --json --quiet "${gpu[@]}" "$@" >"$tmp/v" 2>"$tmp/err" || true
	got=$(python3 -c 'import json,sys; v=json.load(open(sys.argv[1])); g=v["gpu"]; c=g.get("counters"); print(eval(sys.argv[2]))' "$tmp/v" "$expression") ||
		fail "$candidate with '$fault': $(cat "$tmp/v" "$tmp/err")"
	[ "$got" = "$wanted" ] || fail "$candidate with '$fault': '$got' is not '$wanted': $(cat "$tmp/v" "$tmp/err")"
}
on=(--counters --gpu-cupti "$standin")
both='c["dram_read_bytes"], c["dram_written_bytes"], c.get("tensor_percent"), c["occupancy_percent"], c["kernels"]'
# 64 x 4096 elements in blocks of 256 are 1024 instances.
judge one task none "$both" "(4194304.0, 1048576.0, 12.5, 50.0, 1)" "${on[@]}"
judge one task passes "$both" "(4194304.0, 1048576.0, 12.5, 50.0, 1)" "${on[@]}"
judge one task lacking "$both" "(4194304.0, 1048576.0, None, 50.0, 1)" "${on[@]}"
judge two two_task none 'v["correct"], c["kernels"]' "(True, 3)" "${on[@]}"
judge one task none '"4.194 MB read from memory" in v["feedback"] and "1 kernel:" in v["feedback"]' True "${on[@]}"
judge one task none 'c, g["counters_note"], v["feedback"]' "(None, None, None)" --gpu-cupti "$standin"

# Where counters cannot be read the verdict stays, and says why.
why='v["correct"], g["time"] is not None, c, g["counters_note"]'
judge one task denied "$why" "(True, True, None, 'the driver lets only administrators read performance counters')" "${on[@]}"
judge one task dropped "$why" "(True, True, None, 'CUPTI dropped the range of the call')" "${on[@]}"
judge one task endless "$why" "(True, True, None, 'CUPTI wants more than 64 passes')" "${on[@]}"
judge two two_task lost "$why" "(True, True, None, 'the profiler saw 2 of 3 kernels')" "${on[@]}"
judge one task none "$why" "(True, True, None, \"NVIDIA's profiling library (libcupti) is not there\")" --counters --gpu-cupti /nonexistent.so
judge one task none 'g["counters_note"].startswith("libcupti has no function")' True --counters --gpu-cupti "$(ldconfig -p | sed -n 's/.*libm\.so\.6.* => //p' | head -1)"

# A kernel that the call does not launch is a cheat: no reward, also if it hides behind the name of one that the call
# launches.
judge one task twice 'v["correct"], v["reason"], v["reward"]' "(False, 'stray_kernel', 0.0)" "${on[@]}"
judge one task stranger 'v["correct"], v["reason"], v["stage"], v["reward"], "nobody_launched_me" in v["message"]' \
	"(False, 'stray_kernel', 'timing', 0.0, True)" "${on[@]}"

"$TRITONRL" verify "$tmp/one.py" --task "$tmp/task.py" --explain "${gpu[@]}" --gpu-cupti "$standin" >"$tmp/out" 2>&1 || fail "explain: $(cat "$tmp/out")"
grep -q "profiler, 1 kernel: 4.194 MB read from memory, 1.049 MB written to memory, tensor cores busy 12.5 %" "$tmp/out" || fail "explain: $(cat "$tmp/out")"
echo "gpu_counters.sh: passed"
