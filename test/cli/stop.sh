#!/bin/bash
# A stage that is stopped while it looks at its policy (an evaluation between two steps, most of the time here) goes on to
# the same checkpoints, counters included, and the same metrics as one that was never stopped.
set -eu
fail() { echo "stop.sh: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$TRITONRL" prepare --count 24 --level 1 --style plain --validation 0.2 --prompt-style compact --out "$dir/data" --quiet
look=(--eval-every 1 --eval-tasks "$dir/data/tasks_validation.jsonl" --eval-limit 3 --max-new-tokens 100 --max-length 512 --save-every 1 --save-keep 9
	--threads 1)
sft=(train --model models/base --data "$dir/data/sft_train.jsonl" --steps 3 --batch 1 "${look[@]}")
rl=(train --stage rl --model models/base --tasks "$dir/data/tasks_train.jsonl" --method reinforce --n 2 --tasks-per-step 1 --rl-steps 3
	--temperature 1.2 "${look[@]}")

# What a checkpoint says of itself, and every value of a step that is not the clock's.
values() {
	for m in "$1"/checkpoints/*/MANIFEST; do echo "${m#"$1"}: $(cat "$m")"; done
	python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("SELECT stage, step, loss, extra FROM step ORDER BY stage, step"): print(row)' "$1/run.db"
}
# Stopped once a step, a while after the checkpoint of the one before, then continued to the end.
stopped() {
	local out=$1 pid
	shift
	for step in 000001 000002; do
		"$TRITONRL" "$@" --out "$out" > "$dir/log" 2>&1 &
		pid=$!
		for _ in $(seq 400); do
			ls "$out"/checkpoints/*-$step/MANIFEST > /dev/null 2>&1 && break
			sleep 0.02
		done
		sleep 0.1
		kill -TERM $pid 2> /dev/null || true
		wait $pid || true
	done
	"$TRITONRL" "$@" --out "$out" > "$dir/log" 2>&1 || fail "a stopped run does not go on: $(tail -3 "$dir/log")"
}
for stage in sft rl; do
	declare -n words=$stage
	"$TRITONRL" "${words[@]}" --out "$dir/$stage-whole" > "$dir/log" 2>&1 || fail "$stage: $(tail -3 "$dir/log")"
	stopped "$dir/$stage-stopped" "${words[@]}"
	diff <(values "$dir/$stage-whole") <(values "$dir/$stage-stopped") > "$dir/diff" || fail "$stage ends otherwise after a stop: $(head -c 600 "$dir/diff")"
done
