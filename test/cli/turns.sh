#!/bin/bash
# --turns: the first turn is what it is without further ones; correct answers are left alone, others are tried
# again; training takes whole conversations, and a run that was stopped ends with the same bits.
set -eu
fail() { echo "turns.sh: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
evaluate=(eval --model models/base --tasks tasks/plain/test_level1.jsonl --limit 8 --n 2 --max-new-tokens 200 --temperature 1 --no-both-tracks --quiet)
"$TRITONRL" "${evaluate[@]}" --out "$dir/one.json" > /dev/null
"$TRITONRL" "${evaluate[@]}" --turns 3 --out "$dir/three.json" > "$dir/table"
grep -q "turn 1 *turn 2 *turn 3" "$dir/table" || fail "no column for the turns: $(cat "$dir/table")"
python3 - "$dir/one.json" "$dir/three.json" << 'END' || fail "the turns do not add up"
import json, sys
one, three = (json.load(open(f)) for f in sys.argv[1:])
m = three["metrics"]
after = [m["correct_after_%d" % k] for k in (1, 2, 3)]
assert after == sorted(after) and abs(after[2] - m["correct_rate"]) < 1e-9, after
assert abs(after[0] - one["metrics"]["correct_rate"]) < 1e-9, (after, one["metrics"]["correct_rate"])
for a, b in zip(one["detailed_results"], three["detailed_results"]):
    assert a["correct"] == (b["correct"] and b.get("turns", 1) == 1), (a, b)
    assert b["correct"] or b.get("turns", 1) == 3, b
END

train=(train --stage rl --model models/base --tasks tasks/plain/test_level1.jsonl --method grpo --n 2 --turns 2 --tasks-per-step 3 --rl-steps 2
	--save-every 1 --max-new-tokens 60 --max-length 1024 --temperature 1 --threads 1)
"$TRITONRL" "${train[@]}" --out "$dir/a" > /dev/null 2>&1 || fail "training with two turns"
"$TRITONRL" "${train[@]}" --out "$dir/b" > /dev/null 2>&1 &
pid=$!
for i in $(seq 200); do
	[ -e "$dir/b/checkpoints/rl-000001/MANIFEST" ] && break
	sleep 0.05
done
kill -INT $pid 2> /dev/null || true
wait $pid || true
"$TRITONRL" "${train[@]}" --out "$dir/b" > /dev/null 2>&1 || fail "a stopped run does not go on"
cmp -s "$dir"/a/checkpoints/rl_final/adapter_model.safetensors "$dir"/b/checkpoints/rl_final/adapter_model.safetensors ||
	fail "a stopped run ends with other bits"
