#!/bin/bash
# tritonrl plan: every configuration in the tree, one model on many machines, exit codes, JSON.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "plan.sh: $*"; exit 1; }

for config in configs/*.yaml; do
	"$TRITONRL" plan "$config" --judge-ms 20 >"$tmp/out" || fail "$config does not fit its machine"
	grep -q '^  together' "$tmp/out" || fail "$config: no totals"
	grep -q '^assumed' "$tmp/out" || fail "$config: no assumptions"
done
"$TRITONRL" plan configs/qwen2.5-coder-7b-h100x8.yaml --gpu H200 --count 1 --judge-ms 20 | grep -v "the CPU would take" >"$tmp/one"
grep -q '^1 x H200' "$tmp/one" || fail "the command line does not win over the file"
"$TRITONRL" plan --config configs/qwen2.5-coder-7b-h100x8.yaml --gpu H200 --count 1 --judge-ms 20 | grep -v "the CPU would take" >"$tmp/two"
cmp -s "$tmp/one" "$tmp/two" || fail "CONFIG and --config differ"
"$TRITONRL" plan --model qwen2.5-coder-7b --gpu all --judge-ms 20 >"$tmp/all"
[ "$(wc -l <"$tmp/all")" = 13 ] || fail "six GPUs, one and eight of each"
# Each GPU has its price, and the first tasks alone are counted where eval has a limit.
cost() { "$TRITONRL" plan --model qwen2.5-coder-7b --gpu "$1" --judge-ms 20 --json | python3 -c 'import json, sys; p = json.load(sys.stdin); print(p["cost"] / p["gpu_hours"])'; }
[ "$(cost H100)" != "$(cost A10G)" ] || fail "an A10G costs what an H100 does"
printf 'model: models/base\neval: {tasks: tasks/plain, limit: 7}\n' >"$tmp/limit.yaml"
"$TRITONRL" plan "$tmp/limit.yaml" >"$tmp/out"
grep -q 'eval: 7 tasks' "$tmp/out" || fail "eval.limit is not heeded: $(grep eval: "$tmp/out")"
grep -q 'judged in [0-9.]* ms (measured here' "$tmp/out" || fail "the time of a verdict is not measured"
grep -q 'everything that the run needs is available' "$tmp/out" || fail "what runs here"
"$TRITONRL" plan configs/qwen2.5-coder-7b-h100x8.yaml --judge-ms 20 >"$tmp/out"
grep -q "^  model 'models/Qwen2.5-Coder-7B-Instruct' is missing" "$tmp/out" || fail "what does not run here"
grep -q "CPU would take [0-9.]* hours" "$tmp/out" || fail "what it would take here"
"$TRITONRL" plan --model models/base --judge-ms 20 --json | python3 -c 'import json, sys; p = json.load(sys.stdin); assert p["fits"] and p["hours"] > 0' || fail "JSON"
# A plan is made from the options that run obeys: --set and --stages, the number of tasks of rl, every model that
# is evaluated, both prices, and the command that starts it.
printf 'model: models/base\nfull: true\nprepare: {count: 40, rl_count: 30}\nrl: {limit: 12, n: 4}\neval: {tasks: tasks/plain, limit: 5, n: 2}\n' >"$tmp/same.yaml"
"$TRITONRL" plan "$tmp/same.yaml" --judge-ms 5 --price-per-hour 2 --spot-price-per-hour 0.5 >"$tmp/out"
grep -q 'rl: 12 tasks' "$tmp/out" || fail "rl.limit is not heeded: $(grep rl: "$tmp/out")"
grep -q '  rl: judge  *96 candidates' "$tmp/out" || fail "candidates of rl: $(grep judge "$tmp/out")"
grep -q 'eval: judge  *60 candidates' "$tmp/out" || fail "three models, both tracks: $(grep judge "$tmp/out")"
grep -q 'load the model  *5 times' "$tmp/out" || fail "loading: $(grep load "$tmp/out")"
grep -q '  prepare  *70 rows' "$tmp/out" || fail "preparation: $(grep prepare "$tmp/out")"
grep -q 'on demand  *spot' "$tmp/out" && grep -q '2.00 an hour on demand and 0.50 on a spot' "$tmp/out" || fail "prices: $(cat "$tmp/out")"
grep -q "^  tritonrl run $tmp/same.yaml\$" "$tmp/out" || fail "the command: $(grep 'tritonrl run' "$tmp/out")"
"$TRITONRL" plan "$tmp/same.yaml" --judge-ms 5 --stages rl,eval --set rl.limit=6 --gpu H100 --count 4 >"$tmp/out"
grep -q 'rl: judge  *48 candidates' "$tmp/out" || fail "--set: $(grep judge "$tmp/out")"
grep -q 'sft: train' "$tmp/out" && fail "--stages is not heeded"
grep -q "^  mpirun -n 4 tritonrl run $tmp/same.yaml --set rl.limit=6 --stages rl,eval" "$tmp/out" || fail "mpirun: $(grep mpirun "$tmp/out")"
# A step has the sequences that the configuration gives it, in as many passes as it takes.
"$TRITONRL" plan configs/demo.yaml --judge-ms 5 >"$tmp/out"
grep -q 'sft: 20 sequences a step, 16 x 512 tokens at a time, accumulated 2 times' "$tmp/out" || fail "a step: $(grep sequences "$tmp/out")"
# What stage prepare will write is not missing; a stage that does not run needs nothing.
"$TRITONRL" plan configs/writer.yaml --judge-ms 5 >"$tmp/out"
grep -q "^  input of prepare 'data/modules.jsonl' is missing" "$tmp/out" && ! grep -q '^  tasks of eval' "$tmp/out" || fail "needs: $(tail -n 4 "$tmp/out")"
"$TRITONRL" plan configs/writer.yaml --judge-ms 5 --stages sft >"$tmp/out"
grep -q 'is missing' "$tmp/out" && fail "needs of stages that do not run: $(tail -n 4 "$tmp/out")"
# Rows that stage sft makes during training are measured, with the modules if they are here.
streamed() { # name, more keys of stage sft
	echo "{init: models/init/qwen3-36m.json, tokenizer: models/writer, full: true, prompt_style: outline, machine: {gpu: H200}," \
		"sft: {stream: [1, 2], steps: 50, batch: 64, max_length: 4096$2}}" >"$tmp/$1.yaml"
	"$TRITONRL" plan "$tmp/$1.yaml" --stages sft --judge-ms 5 >"$tmp/$1"
	grep -q 'sft: make rows  *3200 rows' "$tmp/$1" || fail "$1: $(cat "$tmp/$1")"
}
streamed rows ""
streamed modules ", stream_modules: $(dirname "$0")/../solve"
streamed missing ", stream_modules: $tmp/nowhere.jsonl"
row_ms() { sed -n 's/.*made in \([0-9.]*\) ms.*/\1/p' "$tmp/$1"; }
for name in modules missing; do
	python3 -c "import sys; sys.exit(not $(row_ms $name) > 1.5 * $(row_ms rows))" || fail "pairs of modules cost nothing: $(row_ms $name) ms against $(row_ms rows)"
done
printf 'model: models/base\nmachine: {rl_tasks: 3}\n' >"$tmp/old.yaml"
"$TRITONRL" plan "$tmp/old.yaml" >/dev/null 2>&1 && fail "machine.rl_tasks, which run ignores, is accepted"
# run says what it takes from its plan, and keeps it with the run.
"$TRITONRL" run "$tmp/same.yaml" --dry-run --stages prepare,sft --out "$tmp/run" >"$tmp/out" 2>&1 || fail "run: $(cat "$tmp/out")"
grep -q 'plan: weights 32-bit, activations kept; sft' "$tmp/out" || fail "run says nothing of its plan: $(cat "$tmp/out")"
grep -q '^20[0-9-]*T[0-9:]*Z plan: weights' "$tmp/run/dry_run/training.log" || fail "training.log has no plan"
grep -q '^20[0-9-]*T[0-9:]*Z sft: finished at step 2, loss' "$tmp/run/dry_run/training.log" || fail "training.log has no result"
rc=0
"$TRITONRL" plan --model qwen2.5-coder-32b --gpu A10G --judge-ms 20 >"$tmp/out" || rc=$?
[ $rc = 1 ] || fail "what does not fit gave exit code $rc"
grep -q "does not fit" "$tmp/out" || fail "what does not fit is not said"
printf 'sft: {lernrate: 1}\n' >"$tmp/bad.yaml"
for words in "" "--model nowhere --gpu H100" "--model models/base --gpu B1000" "$tmp/bad.yaml --model models/base" "$tmp/none.yaml" "configs/demo.yaml configs/demo.yaml"; do
	rc=0
	"$TRITONRL" plan $words >/dev/null 2>"$tmp/err" || rc=$?
	[ $rc = 2 ] || fail "'$words' gave exit code $rc"
done
echo "plan: all good"
