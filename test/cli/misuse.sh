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
refused "cannot open run store" verify test/cheats/control_correct/add.py --task $task --cache "$dir/no/such.db"
refused "did you mean 'eval'" help evall
refused "did you mean 'lr'" run "$dir/typo.yaml"
refused "say which model to train" train --data "$dir/rows.jsonl" --out "$dir/a"
refused "leave --full out" train --full --adapter nosuch --model models/base --data "$dir/rows.jsonl" --out "$dir/b"

# A folder belongs to the options it was started with, and a finished one stays as it is.
train=(train --model models/base --data "$dir/rows.jsonl" --out "$dir/c" --steps 1 --batch 1 --max-length 64 --threads 1)
"$TRITONRL" "${train[@]}" > /dev/null 2>&1
before=$(sha256sum "$dir"/c/checkpoints/sft_final/*.safetensors)
refused "was started with 'lr: 0.0002', not 'lr: 0.5'" "${train[@]}" --lr 0.5
[ "$before" = "$(sha256sum "$dir"/c/checkpoints/sft_final/*.safetensors)" ] || fail "a refused training changed what was there"
"$TRITONRL" "${train[@]}" --threads 2 > /dev/null 2>&1 || fail "another number of threads is the same run"

# Folders without anything to check, limits that nothing can run under, outputs in new folders.
refused "there is no .py file in" check "$dir/empty"
rc=0
out=$(ulimit -v 200000; "$TRITONRL" version 2>&1) || rc=$?
[ $rc = 2 ] || fail "a small address space: exit $rc"
case $out in *"address space is limited"*) ;; *) fail "a small address space: $out" ;; esac
(ulimit -v 6000000; "$TRITONRL" verify test/cheats/control_correct/add.py --task $task --workers 1 --quiet > /dev/null) || fail "a limited address space that is enough"
"$TRITONRL" verify test/cheats/control_correct/add.py --task $task --out "$dir/new/folder/v.jsonl" --quiet || fail "an output in a new folder"
[ -s "$dir/new/folder/v.jsonl" ] || fail "nothing in the new folder"

# A closing line, no names that write on the terminal, and one exit code for all that is stopped.
"$TRITONRL" verify test/cheats/control_correct/add.py --task $task 2>&1 | grep -qx "1 correct, 0 not, 0 unsupported, 0 could not be judged" || fail "verify ends without its sums"
"$TRITONRL" check test/cheats/control_correct/add.py 2>&1 | grep -q "^checked 1 file: " || fail "check ends without its sums"
printf '{"id":"a\\u001b[31m\\nb","task":"x","candidate":"y"}\n' > "$dir/escape.jsonl"
[ "$("$TRITONRL" verify --jsonl "$dir/escape.jsonl" --quiet | grep -c '^a\\x1b\[31m\\x0ab: could not judge')" = 1 ] || fail "an escape sequence is printed as it is"
sed 's/^\( *\)return .*/\1raise ValueError("a\\nb.py: correct, reward 1.000")/' test/cheats/control_correct/add.py > "$dir/raises.py"
"$TRITONRL" verify "$dir/raises.py" --task $task --quiet > "$dir/said" || true
grep -q 'ValueError: a\\x0ab.py: correct' "$dir/said" && ! grep -q '^b.py' "$dir/said" || fail "a message writes a line of its own: $(cat "$dir/said")"
stopped() { # signal, command: ends within seconds with 130
	local signal=$1 rc=0 pid
	shift
	"$TRITONRL" "$@" > /dev/null 2>&1 &
	pid=$!
	sleep 1
	kill -"$signal" $pid 2> /dev/null || true
	{ sleep 30; kill -KILL $pid; } 2> /dev/null &
	wait $pid || rc=$?
	kill $! 2> /dev/null || true
	[ $rc = 130 ] || fail "$*: exit $rc after SIG$signal"
}
stopped INT tasks --count 100000 --out "$dir/tasks.jsonl"
stopped TERM prepare --count 100000 --out "$dir/prepared"
stopped INT eval --model models/base --tasks tasks/plain/test_level2.jsonl
mkdir "$dir/many"
for i in $(seq 400); do
	{ cat test/honest/matmul_split_k.py; echo "# $i"; } > "$dir/many/$i.py"
done
stopped TERM verify "$dir/many" --task test/honest/tasks/matmul.py --workers 1

# A run reports everything that is missing before it starts.
printf 'model: no/model\nprepare: {source: jsonl, input: no/data.jsonl}\neval: {tasks: no/tasks}\n' > "$dir/needs.yaml"
refused "3 things that it needs are missing" run "$dir/needs.yaml" --out "$dir/needs"
[ ! -e "$dir/needs/run.db" ] || fail "a run that cannot start was started"

# The style of prompts stays with the weights, and another one is warned of.
ask=(generate --task $task --max-new-tokens 8 --seed 1 --threads 1 --json)
prompt_of() { "$TRITONRL" "${ask[@]}" --model models/base "$@" 2> "$dir/err" | sed 's/.*"prompt_tokens"://'; }
[ "$(prompt_of)" = "$(prompt_of --prompt-style compact)" ] || fail "the embedded model is not asked as it was trained"
[ ! -s "$dir/err" ] || fail "a warning without need: $(cat "$dir/err")"
[ "$(prompt_of)" != "$(prompt_of --prompt-style full)" ] || fail "--prompt-style is not heeded"
grep -q "trained on prompts of style 'compact' and is asked in style 'full'" "$dir/err" || fail "no warning: $(cat "$dir/err")"
"$TRITONRL" prepare --count 4 --level 1 --prompt-style instruct --out "$dir/data" --quiet
"$TRITONRL" train --model models/base --data "$dir/data/sft_train.jsonl" --out "$dir/styled" --steps 1 --batch 1 --max-length 1024 > /dev/null 2>&1
grep -q '"instruct"' "$dir/styled/checkpoints/sft_final/tritonrl.json" || fail "the style is not kept with the checkpoint"
[ "$(prompt_of --adapter "$dir/styled/checkpoints/sft_final")" = "$(prompt_of --prompt-style instruct)" ] || fail "the adapter's style is not taken"
