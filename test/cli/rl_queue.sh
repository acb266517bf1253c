#!/bin/bash
# train --stage rl: groups without signal are replaced from the queue (--refill), speed counts only once half of a
# group is correct (--speed-gate), and metrics.jsonl has one figure for the health of the queue.
set -eu
fail() { echo "rl_queue.sh: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
head -n 12 tasks/plain/test_level2.jsonl >"$dir/tasks.jsonl"
rl() { # name, options...
	local name=$1
	shift
	"$TRITONRL" train --stage rl --model models/base --tasks "$dir/tasks.jsonl" --out "$dir/$name" --n 4 --rl-steps 1 --tasks-per-step 6 \
		--max-new-tokens 300 --slots 24 --max-length 512 --prompt-style compact --weights fast --threads 1 --workers 1 --rl-lr 1e-3 --no-curriculum \
		--lora-dropout 0 --temperature 1 "$@" >"$dir/$name.out" 2>&1 || fail "$name: $(cat "$dir/$name.out")"
}
value() { python3 -c 'import json, sys
print(json.loads(open(sys.argv[1]).readlines()[-1]).get(sys.argv[2], "none"))' "$dir/$1/metrics.jsonl" "$2"; }
weights() { sha256sum <"$dir/$1/checkpoints/rl_final/adapter_model.safetensors"; }
is() { python3 -c "import sys; sys.exit(not ($1))" || fail "$2: $1"; }

rl plain --method grpo --alpha 1
rl refill --method grpo --alpha 1 --refill
rl again --method grpo --alpha 1 --refill
# Some groups have no signal; others replace them, so more samples are trained on. The same seed replaces the same.
is "0 < $(value plain no_signal_share) < 1" "the tasks are unfit for this test"
[ "$(value plain replaced_share)" = none ] || fail "a share without --refill"
is "0 < $(value refill replaced_share) <= 1" "nothing was replaced"
is "$(value refill tokens) > $(value plain tokens)" "replaced groups are not trained on"
[ "$(weights refill)" = "$(weights again)" ] || fail "the same seed replaces by other tasks"
[ "$(weights refill)" != "$(weights plain)" ] || fail "--refill trains the same"
# If no task has a signal, the rounds end: 6 groups, and three times 6 that were to replace them.
rl none --method best-of-n --threshold 9 --refill
grep -q '24 of 24 groups without signal' "$dir/none.out" || fail "rounds: $(tail -n 1 "$dir/none.out")"

# The gate changes what groups with few correct samples teach, and nothing for rewards without speed.
rl gate --method grpo --alpha 1 --speed-gate
[ "$(weights gate)" != "$(weights plain)" ] || fail "--speed-gate trains the same"
rl correct --method reinforce --reward correct
rl correct_gate --method reinforce --reward correct --speed-gate
[ "$(weights correct)" = "$(weights correct_gate)" ] || fail "--speed-gate changes a reward without speed"

is "0 <= $(value plain queue_health) <= 1" "queue_health"
"$TRITONRL" report "$dir/plain" --out "$dir/page.html" >/dev/null 2>&1 || fail "report"
grep -q '"queue_health":' "$dir/page.html" || fail "the page has no queue_health"
echo "rl_queue: all good"
