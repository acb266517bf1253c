#!/bin/bash
# train --stream: pairs are drawn as the training goes. The same bits on one core and on several, and when a
# killed run goes on; what it refuses.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -r models/base "$dir/tok"
common=(train --stage sft --full --weights fast --init models/base/config.json --tokenizer "$dir/tok" --batch 3 --max-length 384
	--lr 1e-3 --prompt-style compact --threads 1)
drawn=(--stream 1,2,2 --stream-style plain --stream-rising --steps 6)
train() { "$TRITONRL" "${common[@]}" "$@" >"$dir/out" 2>&1; }
weights() { sha256sum <"$1/checkpoints/sft_final/model.safetensors"; }
refuses() { # words, options...
	local words=$1 rc=0
	shift
	rm -rf "$dir/no"
	train --out "$dir/no" "$@" || rc=$?
	[ $rc = 2 ] || fail "'$*' ended with $rc"
	grep -q -e "$words" "$dir/out" || fail "'$words' is not in: $(cat "$dir/out")"
}
refuses "set --steps" --stream 1
refuses "exclude each other" --stream 1 --steps 2 --data x.jsonl
refuses "or --stream" --steps 2
refuses "levels are 1, 2 and 3" --stream 4 --steps 2
refuses "nothing to learn in 8 tokens" --stream 2 --steps 2 --max-length 8

train --out "$dir/a" "${drawn[@]}"
taskset -c 0 "$TRITONRL" "${common[@]}" --out "$dir/b" "${drawn[@]}" >/dev/null 2>&1
[ "$(weights "$dir/a")" = "$(weights "$dir/b")" ] || fail "other weights on one core"

"$TRITONRL" "${common[@]}" --out "$dir/c" "${drawn[@]}" --save-every 1 >/dev/null 2>&1 &
pid=$!
for i in $(seq 200); do [ -e "$dir/c/checkpoints/sft-000002/MANIFEST" ] && break; sleep 0.05; done
kill -9 $pid 2>/dev/null || true
wait $pid || true
# A tokenizer that was learned anew in the meantime would spoil the weights.
echo >> "$dir/tok/tokenizer.json"
! train --out "$dir/c" "${drawn[@]}" --save-every 1 || fail "goes on with another tokenizer"
grep -q "is not the one that" "$dir/out" || fail "does not say that the tokenizer is another one: $(cat "$dir/out")"
cp models/base/tokenizer.json "$dir/tok/"
train --out "$dir/c" "${drawn[@]}" --save-every 1
[ "$(weights "$dir/a")" = "$(weights "$dir/c")" ] || fail "other weights after a kill"
[ "$(grep -c '"rows_wait_s":' "$dir/a/metrics.jsonl")" = 6 ] || fail "metrics.jsonl does not say how long training waited for rows"
