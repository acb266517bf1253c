#!/bin/bash
# tritonrl plan: every configuration in the tree, one model on many machines, exit codes, JSON.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "plan.sh: $*"; exit 1; }

for config in configs/*.yaml; do
	"$TRITONRL" plan "$config" >"$tmp/out" || fail "$config does not fit its machine"
	grep -q '^  together' "$tmp/out" || fail "$config: no totals"
	grep -q '^assumed' "$tmp/out" || fail "$config: no assumptions"
done
"$TRITONRL" plan configs/qwen2.5-coder-7b-h100x8.yaml --gpu H200 --count 1 --judge-ms 20 | grep -v "the CPU would take" >"$tmp/one"
grep -q '^1 x H200' "$tmp/one" || fail "the command line does not win over the file"
"$TRITONRL" plan --config configs/qwen2.5-coder-7b-h100x8.yaml --gpu H200 --count 1 --judge-ms 20 | grep -v "the CPU would take" >"$tmp/two"
cmp -s "$tmp/one" "$tmp/two" || fail "CONFIG and --config differ"
"$TRITONRL" plan --model qwen2.5-coder-7b --gpu all >"$tmp/all"
[ "$(wc -l <"$tmp/all")" = 13 ] || fail "six GPUs, one and eight of each"
# Each GPU has its price, and the first tasks alone are counted where eval has a limit.
cost() { "$TRITONRL" plan --model qwen2.5-coder-7b --gpu "$1" --judge-ms 20 --json | python3 -c 'import json, sys; p = json.load(sys.stdin); print(p["cost"] / p["gpu_hours"])'; }
[ "$(cost H100)" != "$(cost A10G)" ] || fail "an A10G costs what an H100 does"
printf 'model: models/base\neval: {tasks: tasks/plain, limit: 7}\n' >"$tmp/limit.yaml"
"$TRITONRL" plan "$tmp/limit.yaml" >"$tmp/out"
grep -q 'eval: 7 tasks' "$tmp/out" || fail "eval.limit is not heeded: $(grep eval: "$tmp/out")"
grep -q 'ms (measured here' "$tmp/out" || fail "the time of a verdict is not measured"
grep -q 'everything that the run needs is available' "$tmp/out" || fail "what runs here"
"$TRITONRL" plan configs/qwen2.5-coder-7b-h100x8.yaml >"$tmp/out"
grep -q "^  model 'models/Qwen2.5-Coder-7B-Instruct' is missing" "$tmp/out" || fail "what does not run here"
grep -q "CPU would take [0-9.]* hours" "$tmp/out" || fail "what it would take here"
"$TRITONRL" plan --model models/base --json | python3 -c 'import json, sys; p = json.load(sys.stdin); assert p["fits"] and p["hours"] > 0' || fail "JSON"
rc=0
"$TRITONRL" plan --model qwen2.5-coder-32b --gpu A10G >"$tmp/out" || rc=$?
[ $rc = 1 ] || fail "what does not fit gave exit code $rc"
grep -q "does not fit" "$tmp/out" || fail "what does not fit is not said"
printf 'sft: {lernrate: 1}\n' >"$tmp/bad.yaml"
for words in "" "--model nowhere --gpu H100" "--model models/base --gpu B1000" "$tmp/bad.yaml --model models/base" "$tmp/none.yaml" "configs/demo.yaml configs/demo.yaml"; do
	rc=0
	"$TRITONRL" plan $words >/dev/null 2>"$tmp/err" || rc=$?
	[ $rc = 2 ] || fail "'$words' gave exit code $rc"
done
echo "plan: all good"
