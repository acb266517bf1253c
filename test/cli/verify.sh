#!/bin/bash
# tritonrl verify: exit codes, order of results, JSON lines, an interrupted run that goes on, the
# cache, dumps.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "verify.sh: $*"; exit 1; }
cheats=$(dirname "$0")/../cheats
task=$cheats/tasks/add.py

# timeless FILE...: the lines of files with all times set to 0
timeless() { sed 's/ms":[-0-9.e]*/ms":0/g' "$@"; }

rc=0; "$TRITONRL" verify "$cheats/control_correct/add.py" --task "$task" --quiet >"$tmp/o" 2>&1 || rc=$?
[ $rc = 0 ] && [ "$(wc -l <"$tmp/o")" = 1 ] || fail "a correct candidate: exit $rc, output $(cat "$tmp/o")"
rc=0; "$TRITONRL" verify "$cheats/output_not_written/empty_returned.py" "$cheats/control_correct/add.py" --task "$task" --explain >"$tmp/o" 2>/dev/null || rc=$?
[ $rc = 1 ] || fail "a wrong candidate: exit $rc"
head -1 "$tmp/o" | grep -q 'empty_returned.py:.*error\[' && grep -q 'add.py: correct' "$tmp/o" || fail "results out of order"
rc=0; "$TRITONRL" verify "$cheats/control_correct/add.py" --task /nonexistent 2>/dev/null || rc=$?
[ $rc = 2 ] || fail "no task: exit $rc"
printf 'def broken(:\n' >"$tmp/broken.py"
"$TRITONRL" verify "$tmp/broken.py" --task "$task" --explain 2>/dev/null | sed -n 3p | grep -q '^ *^$' || fail "no caret under the place"

# JSON lines: correct, wrong, a broken line, a task that is none, a candidate of 5 MB, an integer id.
python3 - "$cheats" >"$tmp/c.jsonl" <<'END'
import json, sys
read = lambda name: open(f"{sys.argv[1]}/{name}").read()
task, good, bad = read("tasks/add.py"), read("control_correct/add.py"), read("output_not_written/empty_returned.py")
for i in range(40):
    print(json.dumps({"id": f"c{i}", "task": task, "candidate": [good, bad, "x = (", good + f"# {i}\n"][i % 4]}))
print("{ this is not JSON")
print(json.dumps({"id": 7, "task": "x = 1", "candidate": good}))
print(json.dumps({"id": "large", "task": task, "candidate": good + "#" * (5 << 20)}))
print(json.dumps({"id": "twice", "task": task, "candidate": good}))
print(json.dumps({"id": "twice", "task": task, "candidate": bad}))
END
rc=0; "$TRITONRL" verify --jsonl "$tmp/c.jsonl" --out "$tmp/all" --quiet || rc=$?
[ $rc = 2 ] || fail "with a broken line: exit $rc"
[ "$(wc -l <"$tmp/all")" = 45 ] || fail "$(wc -l <"$tmp/all") verdicts for 45 lines"
ids=$(sed 's/^{"id":"\([^"]*\)".*/\1/' "$tmp/all" | tr '\n' ' ')
want="$(seq -f 'c%g' 0 39 | tr '\n' ' ')line-41 7 large twice twice "
[ "$ids" = "$want" ] || fail "order: $ids"
grep -q '"id":"large",.*"verdict":"structure"' "$tmp/all" || fail "the large candidate: $(grep large "$tmp/all")"

# Interrupted anywhere, even inside a line, it goes on and ends with the same file.
size=$(stat -c %s "$tmp/all")
for at in 1 $((size / 3)) $((size / 2 + 17)) $((size - 1)) $size; do
	head -c $at "$tmp/all" >"$tmp/part"
	"$TRITONRL" verify --jsonl "$tmp/c.jsonl" --out "$tmp/part" --quiet || true
	cmp -s <(timeless "$tmp/all") <(timeless "$tmp/part") || fail "resumed at byte $at: another file"
done
rc=0; "$TRITONRL" verify --jsonl <(tail -n +2 "$tmp/c.jsonl") --out "$tmp/part" --quiet 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q 'does not belong' "$tmp/err" || fail "a file of other candidates was continued"

# The cache: the same verdicts, from it the second time; other options are other verdicts.
"$TRITONRL" verify --jsonl "$tmp/c.jsonl" --out "$tmp/one" --cache "$tmp/cache.db" --quiet || true
"$TRITONRL" verify --jsonl "$tmp/c.jsonl" --out "$tmp/two" --cache "$tmp/cache.db" 2>"$tmp/err" >/dev/null || true
cmp -s <(timeless "$tmp/all") <(timeless "$tmp/one") && cmp -s <(timeless "$tmp/all") <(timeless "$tmp/two") || fail "the cache changes verdicts"
grep -q '4[0-9] verdicts came from the cache' "$tmp/err" || fail "nothing came from the cache: $(cat "$tmp/err")"
"$TRITONRL" verify --jsonl "$tmp/c.jsonl" --json --stage-limit ast --cache "$tmp/cache.db" 2>"$tmp/err" >"$tmp/three" || true
grep -q '"id":"c0",.*"verdict":"[a-z]*","stage":"ast"' "$tmp/three" || fail "a verdict of other options came from the cache"

"$TRITONRL" verify "$cheats/control_correct/add.py" --task "$task" --quiet --dump "$tmp/dump" >/dev/null
[ "$(find "$tmp/dump" -name task.py | wc -l)" -ge 5 ] || fail "no dumps"
[ "$(find "$tmp/dump" -name task.py | wc -l)" = "$(find "$tmp/dump" -name tensors.safetensors -size +100c | wc -l)" ] || fail "dumps without tensors"
sed 's/^\( *\)return \(.*\)/\1return (\2).reshape(1, -1).expand(1000, -1)/' "$cheats/control_correct/add.py" >"$tmp/large.py"
"$TRITONRL" verify "$tmp/large.py" --task "$task" --quiet --dump "$tmp/dump" >"$tmp/large" || true
grep -q 'error\[wrong_shape\]' "$tmp/large" || fail "a result too large to be compared is dumped: $(cat "$tmp/large")"

# --gpu is what kernels are compiled for: there is no fp8 before capability 89.
sed 's/^\( *\)\(a = tl.load.*\)/\1\2\n\1small = a.to(tl.float8e4nv)/' "$cheats/control_correct/add.py" >"$tmp/fp8.py"
grep -q float8e4nv "$tmp/fp8.py" || fail "the candidate for --gpu was not made"
"$TRITONRL" verify "$tmp/fp8.py" --task "$task" --gpu H100 --quiet >/dev/null || fail "fp8 on an H100 is refused"
"$TRITONRL" verify "$tmp/fp8.py" --task "$task" --gpu A100 --json >"$tmp/o" 2>/dev/null && fail "fp8 on an A100 passes"
grep -q '"stage":"compile".*fp8e4nv not supported' "$tmp/o" || fail "fp8 on an A100: $(cat "$tmp/o")"

# Where the reference changes buffers, the verdict says whether the candidate's were compared.
honest=$(dirname "$0")/../honest
for pair in counted:compared training:left left:left; do
	"$TRITONRL" verify "$honest/batch_norm_${pair%:*}.py" --task "$honest/tasks/batch_norm_training.py" --track hybrid --json 2>/dev/null >"$tmp/o"
	grep -q "\"buffers\":\"${pair#*:}\"" "$tmp/o" || fail "buffers of batch_norm_${pair%:*}: $(cat "$tmp/o")"
done

# A candidate that does not parse must not switch off the dry run for the candidates after it.
printf 'def broken(:\n' >"$tmp/first.py"
printf 'import os\n' >"$tmp/second.py"
for first in first second; do
	"$TRITONRL" verify "$tmp/$first.py" "$cheats/size_branch/large_input.py" --task "$cheats/tasks/relu_large.py" --workers 1 --json 2>/dev/null >"$tmp/o" || true
	tail -1 "$tmp/o" | grep -q '"correct":false' || fail "a size branch passes after a candidate that is no program"
done

# A full disk is an error, and nothing more is judged for it.
for i in $(seq 60); do cat "$tmp/c.jsonl" | head -1; done >"$tmp/many.jsonl"
rc=0; "$TRITONRL" verify --jsonl "$tmp/many.jsonl" --json >/dev/full 2>"$tmp/o" || rc=$?
[ $rc = 2 ] && grep -q 'cannot write the verdicts' "$tmp/o" || fail "a full disk: exit $rc, $(cat "$tmp/o")"

# A killed run keeps the verdicts that it has printed.
for i in $(seq 400); do head -1 "$tmp/c.jsonl" | sed "s/\"id\": *[^,]*,/\"id\": \"n$i\",/"; done >"$tmp/more.jsonl"
"$TRITONRL" verify --jsonl "$tmp/more.jsonl" --json >"$tmp/killed" 2>/dev/null &
pid=$!
for i in $(seq 400); do [ -s "$tmp/killed" ] && break; sleep 0.02; done
kill -9 $pid
wait $pid || true
[ "$(tail -c 1 "$tmp/killed" | od -An -tx1)" = " 0a" ] || fail "a killed run cut its last verdict: $(tail -c 100 "$tmp/killed")"
