#!/bin/bash
# tritonrl prepare: a small file in KernelBook's format through every step; what is written can be
# trained on; the result does not depend on threads or on the form of the file; bad files, bad
# options and Ctrl-C leave nothing behind.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "prepare.sh: $*"; exit 1; }
number() { sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" "$2" | head -n 1; }
make_book() { python3 test/tool/make_kernelbook.py "$@" >/dev/null; }

make_book "$tmp/book.json" --rows 300
make_book "$tmp/book.jsonl" --rows 300 --jsonl
common="--source kernelbook --model models/base --max-length 4096 --quiet"
"$TRITONRL" prepare $common --input "$tmp/book.json" --out "$tmp/a" --threads 1
"$TRITONRL" prepare $common --input "$tmp/book.json" --out "$tmp/b" --threads 3
"$TRITONRL" prepare $common --input "$tmp/book.jsonl" --out "$tmp/c"
diff -r "$tmp/a" "$tmp/b" >/dev/null || fail "the result depends on the number of threads"
for f in sft_train sft_validation tasks_train difficulty_labels; do
	cmp -s "$tmp/a/$f.jsonl" "$tmp/c/$f.jsonl" || fail "an array and JSON lines give different $f.jsonl"
done
[ "$(ls "$tmp/a" | wc -l)" = 9 ] || fail "files: $(ls "$tmp/a")"

# Every row is somewhere: kept or dropped for one reason.
dropped=$(($(sed -n '/"dropped"/,/}/p' "$tmp/a/prepare.json" | sed -n 's/.*: \([0-9]*\),*$/\1/p' | paste -sd+)))
[ "$(number read "$tmp/a/prepare.json")" = 300 ] || fail "rows read"
[ $(($(number kept "$tmp/a/prepare.json") + dropped)) = 300 ] || fail "rows are missing: $dropped dropped"
[ "$(number duplicate "$tmp/a/prepare.json")" -gt 40 ] || fail "duplicates"
[ "$(cat "$tmp"/a/sft_*.jsonl | wc -l)" = "$(number kept "$tmp/a/prepare.json")" ] || fail "rows written"

# The form: KernelBench's names, flat inputs, no helpers, licences and labels beside it.
grep -q 'class ModelNew' "$tmp/a/sft_train.jsonl" || fail "no ModelNew"
grep -q '_paritybench_helpers' "$tmp/a/sft_train.jsonl" && fail "a helper module is left"
grep -q 'return \[\[' "$tmp/a/tasks_train.jsonl" && fail "nested inputs are left"
[ "$(grep -c '"licenses":\["' "$tmp/a/sft_train.jsonl")" = "$(wc -l <"$tmp/a/sft_train.jsonl")" ] || fail "licences"
grep -q '"heuristic":{"level":' "$tmp/a/difficulty_labels.jsonl" || fail "the heuristic's label"

# What was written is what other commands read.
"$TRITONRL" train --stage sft --model models/base --data "$tmp/a/sft_train.jsonl" --out "$tmp/run" --steps 1 --batch 1 --max-length 512 \
	>/dev/null 2>&1 || fail "train does not take sft_train.jsonl"
"$TRITONRL" prepare --source jsonl --input "$tmp/a/tasks_train.jsonl" --out "$tmp/d" --near 0 --validation 0 --quiet
[ "$(wc -l <"$tmp/d/tasks_train.jsonl")" = "$(wc -l <"$tmp/a/tasks_train.jsonl")" ] || fail "tasks are not read back"

# The judge finds KernelBook's pairs correct at the size they were made for.
"$TRITONRL" prepare $common --max-length 1500 --input "$tmp/book.json" --out "$tmp/v" --limit 12 --verify --track hybrid --no-multi-input
[ "$(number kept "$tmp/v/prepare.json")" = 12 ] || fail "verified pairs"
grep -q not_correct "$tmp/v/prepare.json" && fail "a good pair was refused"

# tasks writes an estimate of the speed with each pair; slow ones can be left out.
"$TRITONRL" tasks --style plain --level 1,2 --count 12 --out "$tmp/pairs.jsonl" --quiet
[ "$(grep -c '"speedup":[0-9]' "$tmp/pairs.jsonl")" = 12 ] || fail "pairs without an estimate"
"$TRITONRL" prepare --source jsonl --input "$tmp/pairs.jsonl" --out "$tmp/fast" --near 0 --near-eval 0 --validation 0 --min-speedup 1 --quiet
slow=$(python3 -c 'import json, sys; print(sum(json.loads(l)["speedup"] < 1 for l in open(sys.argv[1])))' "$tmp/pairs.jsonl")
[ "$(wc -l <"$tmp/fast/sft_train.jsonl")" = $((12 - slow)) ] || fail "--min-speedup: $slow of 12 are slow"
grep -q '"speedup":' "$tmp/fast/sft_train.jsonl" || fail "the estimate is lost"

# Evaluation tasks are kept out, and go nowhere but to test.
mkdir "$tmp/level1"
head -n 1 "$tmp/a/tasks_train.jsonl" | python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())["task"])' >"$tmp/level1/1_first.py"
"$TRITONRL" prepare --source kernelbench,kernelbook --input "$tmp/level1" --input "$tmp/book.json" --out "$tmp/e" --quiet
grep -q '"contaminated": [1-9]' "$tmp/e/prepare.json" || fail "an evaluation task was trained on"
[ "$(wc -l <"$tmp/e/tasks_test.jsonl")" = 1 ] || fail "evaluation tasks in tasks_test.jsonl"
grep -q 'kernelbench-l1-1_first' "$tmp/e/tasks_test.jsonl" || fail "the name of an evaluation task"
cat "$tmp"/e/sft_*.jsonl "$tmp"/e/tasks_train.jsonl | grep -q kernelbench && fail "an evaluation task among training rows"

# The generator: same seed, same bytes; another seed, others; tasks for reinforcement apart.
"$TRITONRL" prepare --count 40 --rl-count 20 --rl-level 2 --out "$tmp/g" --quiet
"$TRITONRL" prepare --count 40 --rl-count 20 --rl-level 2 --out "$tmp/h" --quiet
"$TRITONRL" prepare --count 40 --rl-count 20 --rl-level 2 --out "$tmp/i" --seed 2 --quiet
diff -r "$tmp/g" "$tmp/h" >/dev/null || fail "the same seed gives other rows"
cmp -s "$tmp/g/sft_train.jsonl" "$tmp/i/sft_train.jsonl" && fail "another seed gives the same rows"
[ "$(wc -l <"$tmp/g/sft_train.jsonl")" = 40 ] && [ "$(wc -l <"$tmp/g/tasks_train.jsonl")" = 20 ] || fail "counts of the generator"
grep -q '"level":1' "$tmp/g/tasks_train.jsonl" && fail "--rl-level"

# Files that are broken: told where, exit 2, what was there before is untouched.
head -c 100000 "$tmp/book.json" >"$tmp/cut.json"
cp -r "$tmp/a" "$tmp/before"
"$TRITONRL" prepare $common --input "$tmp/cut.json" --out "$tmp/a" 2>"$tmp/err" && fail "a cut file was accepted"
grep -q "byte [0-9]*: the file ends inside" "$tmp/err" || fail "$(cat "$tmp/err")"
diff -r "$tmp/a" "$tmp/before" >/dev/null || fail "a failed run changed the folder"
printf '{"python_code": 1}\n{"task": "x"}\n{"a": {"b": ]}}\n' >"$tmp/odd.jsonl"
cat "$tmp/odd.jsonl" "$tmp/book.jsonl" >"$tmp/some.jsonl"
"$TRITONRL" prepare --source kernelbook --input "$tmp/some.jsonl" --out "$tmp/odd" --quiet
[ "$(number broken_row "$tmp/odd/prepare.json")" = 3 ] || fail "rows without columns"
grep -q '"row":3,"id":null,"reason":"broken_row"' "$tmp/odd/dropped.jsonl" || fail "no reason for the third row"
[ "$(wc -l <"$tmp/a/dropped.jsonl")" = $dropped ] || fail "dropped.jsonl does not hold what was dropped"

# Compressed files are read; what cannot be read, or gives nothing, is refused with the way out.
gzip -c "$tmp/book.jsonl" >"$tmp/book.jsonl.gz"
"$TRITONRL" prepare $common --input "$tmp/book.jsonl.gz" --out "$tmp/z"
cmp -s "$tmp/c/sft_train.jsonl" "$tmp/z/sft_train.jsonl" || fail "a compressed file gives other rows"
head -c 20000 "$tmp/book.jsonl.gz" >"$tmp/cut.jsonl.gz"
printf 'PAR1....PAR1' >"$tmp/a.parquet"
echo '{"a": 1}' >"$tmp/other.jsonl"
: >"$tmp/nothing.jsonl"
refused() { # file, words of the message
	rc=0
	"$TRITONRL" prepare --source kernelbook --input "$1" --out "$tmp/refused" --quiet 2>"$tmp/err" || rc=$?
	[ $rc = 2 ] && grep -q "$2" "$tmp/err" || fail "$1: exit $rc: $(cat "$tmp/err")"
	[ ! -e "$tmp/refused/prepare.json" ] || fail "$1: something was written"
}
refused "$tmp/cut.jsonl.gz" "damaged or ends too early"
refused "$tmp/a.parquet" "is a Parquet file"
refused "$tmp/other.jsonl" "none of the 1 rows"
refused "$tmp/nothing.jsonl" "there is no row in"
for words in "--source kernelbook" "--source nowhere" "--source builtin --input x" "--level 7" "--validation 0.8 --test 0.5" \
	"--source jsonl --input $tmp/none"; do
	rc=0
	"$TRITONRL" prepare --out "$tmp/bad" $words >/dev/null 2>&1 || rc=$?
	[ $rc = 2 ] || fail "'$words' gave exit code $rc"
done

# Ctrl-C: exit 130, no half-written file.
make_book "$tmp/large.json" --rows 4000
"$TRITONRL" prepare --source kernelbook --input "$tmp/large.json" --out "$tmp/stopped" --quiet 2>/dev/null &
pid=$!
sleep 0.2
kill -INT $pid 2>/dev/null || true
rc=0
wait $pid || rc=$?
if [ $rc = 130 ]; then
	[ -z "$(ls -A "$tmp/stopped" 2>/dev/null)" ] || fail "left behind: $(ls -A "$tmp/stopped")"
elif [ $rc = 0 ]; then
	[ -f "$tmp/stopped/prepare.json" ] || fail "finished without prepare.json"
else
	fail "Ctrl-C gave exit code $rc"
fi
echo "prepare: all good"
