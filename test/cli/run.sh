#!/bin/bash
# run: every stage of a dry run, Ctrl-C and how to continue, what it refuses.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat > "$dir/c.yaml" <<END
model: models/base
prompt_style: compact
weights: fast
threads: 1
workers: 1
prepare: {source: builtin, count: 30, level: [1, 1, 2], rl_count: 8, validation: 0.1}
sft: {batch: 2, steps: 40, max_length: 640}
rl: {method: grpo, n: 3, steps: 4, tasks_per_step: 2, max_new_tokens: 200, max_length: 1024}
eval: {tasks: tasks/plain/test_level1.jsonl, limit: 2, n: 1, max_new_tokens: 100}
END
expect() { # code, words...: exit code and output in $out
	local want=$1 rc=0
	shift
	out=$("$TRITONRL" "$@" 2>&1) || rc=$?
	[ $rc = "$want" ] || fail "'$*' ended with $rc, not $want: $out"
}
has() { [[ $out == *"$1"* ]] || fail "'$1' is not in: $out"; }

expect 2 run "$dir/none.yaml"; has "none.yaml"
expect 2 run "$dir/c.yaml" --set sft.learning=1 --out "$dir/r"; has "no stage has such an option"
expect 2 run "$dir/c.yaml" --set judge.x=1 --out "$dir/r"; has "unknown stage 'judge'"
expect 2 run "$dir/c.yaml" --set sft.lr=fast --out "$dir/r"; has "not a number"
expect 2 run "$dir/c.yaml" --stages sft,play --out "$dir/r"; has "unknown stage 'play'"
expect 2 run --out "$dir/r"; has "which model"

expect 0 run "$dir/c.yaml" --out "$dir/r" --dry-run
for f in config.yaml metrics.jsonl run.db report.html data/processed/sft_train.jsonl checkpoints/sft_final/MANIFEST \
	checkpoints/rl_final/MANIFEST outputs/eval_base.json outputs/eval_sft.json outputs/eval_rl.json outputs/summary.txt; do
	[ -s "$dir/r/dry_run/$f" ] || fail "a dry run leaves no $f"
done
[ "$(grep -c '"stage":"sft"' "$dir/r/dry_run/metrics.jsonl")" = 2 ] || fail "a dry run makes two steps"

# Ctrl-C in the supervised stage: a clean end that says how to go on, and the rest afterwards.
"$TRITONRL" run "$dir/c.yaml" --out "$dir/r" > "$dir/out" 2>&1 &
pid=$!
for i in $(seq 200); do [ -s "$dir/r/metrics.jsonl" ] && break; sleep 0.1; done
expect 2 run "$dir/c.yaml" --out "$dir/r"; has "in use by another process"
kill -INT $pid
rc=0
wait $pid || rc=$?
[ $rc = 130 ] || fail "Ctrl-C ended with $rc: $(cat "$dir/out")"
grep -q "To continue: tritonrl run $dir/c.yaml --out $dir/r" "$dir/out" || fail "no word on how to continue: $(cat "$dir/out")"
expect 2 run "$dir/c.yaml" --out "$dir/r" --set sft.lr=1; has "was started with"

# Stages without the evaluation do not need its tasks.
sed 's|tasks/plain/test_level1.jsonl|/no/such/tasks.jsonl|; s/steps: 40/steps: 1/' "$dir/c.yaml" > "$dir/away.yaml"
expect 0 run "$dir/away.yaml" --out "$dir/away" --stages prepare,sft; has "'/no/such/tasks.jsonl' of section eval is missing"
expect 2 run "$dir/away.yaml" --out "$dir/away2" --stages prepare,sft,eval; has "tasks of eval '/no/such/tasks.jsonl' is missing"

# The job script is requeued after a spot notice, a time limit and a kill; not after the end, a spent budget or an error.
mkdir "$dir/bin"
printf '#!/bin/sh\nexit "$SRUN_RC"\n' > "$dir/bin/srun"
printf '#!/bin/sh\necho "$@" >> "$REQUEUED"\n' > "$dir/bin/scontrol"
chmod +x "$dir/bin/"*
for code in 0 2 3 4 130 137 143; do
	rc=0
	rm -f "$dir/requeued"
	PATH=$dir/bin:$PATH SRUN_RC=$code REQUEUED=$dir/requeued SLURM_JOB_ID=7 bash configs/slurm.sh c.yaml run || rc=$?
	[ $rc = $code ] || fail "slurm.sh ended with $rc, not $code"
	case $code in
	3 | 130 | 137 | 143) [ "$(cat "$dir/requeued")" = "requeue 7" ] || fail "exit code $code is not requeued" ;;
	*) [ ! -e "$dir/requeued" ] || fail "exit code $code is requeued" ;;
	esac
done
