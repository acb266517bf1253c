#!/bin/bash
# What people type by mistake: each gets one clear sentence and exit code 2, and nothing is lost.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
refused() { # words expected in the message, then the command
	local words=$1 rc=0 out
	shift
	out=$("$TRITONRL" "$@" 2>&1) || rc=$?
	[ $rc = 2 ] || fail "$*: exit $rc: $out"
	case $out in *"$words"*) ;; *) fail "$*: says '$out', not '$words'" ;; esac
	case $out in *"(null)"*) fail "$*: says '$out'" ;; esac
}

mkdir "$dir/empty"
printf 'sft: {lrr: 3}\n' > "$dir/typo.yaml"
echo '{"text": "one two three four"}' > "$dir/rows.jsonl"
task=test/cheats/tasks/add.py

refused "there is no .py file" verify "$dir/empty" --task $task
refused "cannot open run store" verify test/cheats/ok_add.py --task $task --cache "$dir/no/such.db"
refused "did you mean 'eval'" help evall
refused "did you mean 'lr'" run "$dir/typo.yaml"
refused "say which model to train" train --data "$dir/rows.jsonl" --out "$dir/a"
refused "leave --full out" train --full --adapter nosuch --model models/base --data "$dir/rows.jsonl" --out "$dir/b"

# A folder belongs to the options it was begun with, and a finished one stays as it is.
train=(train --model models/base --data "$dir/rows.jsonl" --out "$dir/c" --steps 1 --batch 1 --max-length 64 --threads 1)
"$TRITONRL" "${train[@]}" > /dev/null 2>&1
before=$(sha256sum "$dir"/c/checkpoints/sft_final/*.safetensors)
refused "was begun with 'lr: 0.0002', not 'lr: 0.5'" "${train[@]}" --lr 0.5
[ "$before" = "$(sha256sum "$dir"/c/checkpoints/sft_final/*.safetensors)" ] || fail "a refused training changed what was there"
"$TRITONRL" "${train[@]}" --threads 2 > /dev/null 2>&1 || fail "another number of threads is the same run"
