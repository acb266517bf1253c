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
"$TRITONRL" plan configs/qwen2.5-coder-7b-h100x8.yaml --gpu H200 --count 1 >"$tmp/one"
grep -q '^1 x H200' "$tmp/one" || fail "the command line does not win over the file"
"$TRITONRL" plan --config configs/qwen2.5-coder-7b-h100x8.yaml --gpu H200 --count 1 >"$tmp/two"
cmp -s "$tmp/one" "$tmp/two" || fail "CONFIG and --config differ"
"$TRITONRL" plan --model qwen2.5-coder-7b --gpu all >"$tmp/all"
[ "$(wc -l <"$tmp/all")" = 13 ] || fail "six GPUs, one and eight of each"
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
