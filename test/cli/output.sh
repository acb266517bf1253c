#!/bin/bash
# Files in and out: an output that cannot be written is found before the work, an input without rows is an error, a
# folder is named, a byte order mark costs nothing, and names of choices are taken in any case.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
expect() { # code, words...: exit code and output in $out
	local want=$1 rc=0
	shift
	out=$("$TRITONRL" "$@" 2>&1) || rc=$?
	[ $rc = "$want" ] || fail "'$*' ended with $rc, not $want: $out"
}
has() { [[ $out == *"$1"* ]] || fail "'$1' is not in: $out"; }
lacks() { [[ $out != *"$1"* ]] || fail "'$1' is in: $out"; }
python3 - test/cheats > "$dir/rows.jsonl" <<'END'
import json, sys
task, good = (open(sys.argv[1] + name).read() for name in ("/tasks/add.py", "/control_correct/add.py"))
for i in range(12):
    print(json.dumps({"id": f"row-{i}", "task": task, "candidate": good}))
END
: > "$dir/empty.jsonl"
printf '\n\n' > "$dir/blank.jsonl"
{ printf '\xef\xbb\xbf'; head -n 2 "$dir/rows.jsonl"; } > "$dir/mark.jsonl"
{ printf '\xef\xbb\xbf'; head -n 3 tasks/plain/test_level1.jsonl; } > "$dir/tasks.jsonl"
mkdir "$dir/folder"

# Outputs: nothing is judged first.
expect 2 verify --jsonl "$dir/rows.jsonl" --out /proc/x.jsonl; has "cannot write '/proc/x.jsonl'"; lacks "candidates"
expect 2 verify --jsonl "$dir/rows.jsonl" --out "$dir/folder"; has "'$dir/folder': it is a folder"; lacks "candidates"
expect 2 verify --jsonl "$dir/rows.jsonl" --out "$dir/rows.jsonl/x"; has "rows.jsonl"; lacks "candidates"
model=(eval --model models/base --tasks "$dir/tasks.jsonl" --n 1 --max-new-tokens 20)
expect 2 "${model[@]}" --out "$dir/folder"; has "'$dir/folder': it is a folder"; lacks "samples"
expect 2 "${model[@]}" --out /proc/x.json; has "cannot write '/proc/x.json'"; lacks "samples"
expect 2 tasks --count 3 --out "$dir/folder"; has "it is a folder"; lacks "rows"
expect 0 verify --jsonl "$dir/rows.jsonl" --out "$dir/new/folder/v.jsonl" --quiet
[ "$(wc -l < "$dir/new/folder/v.jsonl")" = 12 ] || fail "verdicts are missing"
expect 0 verify --jsonl "$dir/rows.jsonl" --out "$dir/new/folder/v.jsonl" --quiet      # everything is there already
[ "$(wc -l < "$dir/new/folder/v.jsonl")" = 12 ] || fail "the check of an output changed it"

# Inputs.
for f in empty blank; do expect 2 verify --jsonl "$dir/$f.jsonl"; has "there is no candidate in '$dir/$f.jsonl'"; done
rc=0
out=$("$TRITONRL" verify --jsonl - 2>&1 < /dev/null) || rc=$?
[ $rc = 2 ] || fail "empty standard input ended with $rc"
expect 2 verify --jsonl "$dir/folder"; has "'$dir/folder': it is a folder"
expect 2 prepare --source jsonl --input "$dir/folder" --out "$dir/p"; has "'$dir/folder'"
expect 0 verify --jsonl "$dir/mark.jsonl" --json --quiet; has '"id":"row-0"'; has '"id":"row-1"'
expect 0 verify --identity --jsonl "$dir/tasks.jsonl" --quiet
expect 0 "${model[@]}" --no-both-tracks; has "all                          3 "

# A full disk, with little and with much to write, and with a reader of single lines.
for n in 1 12; do
	rc=0
	out=$(head -n $n "$dir/rows.jsonl" | "$TRITONRL" verify --jsonl - --json 2>&1 > /dev/full) || rc=$?
	[ $rc = 2 ] && has "No space left on device"
	head -n $n "$dir/rows.jsonl" > "$dir/some.jsonl"
	rc=0
	out=$("$TRITONRL" verify --jsonl "$dir/some.jsonl" --json 2>&1 > /dev/full) || rc=$?
	[ $rc = 2 ] && has "No space left on device"
done

# Names in any case.
expect 0 verify test/cheats/control_correct/add.py --task test/cheats/tasks/add.py --gpu H100 --json --quiet
judge=${out#*\"judge\":\"}
for name in h100 H100; do
	expect 0 verify test/cheats/control_correct/add.py --task test/cheats/tasks/add.py --gpu $name --json --quiet
	has "\"judge\":\"${judge%%\"*}\""
	expect 0 check test/cheats/control_correct/add.py --gpu $name
	expect 0 plan --model models/base --gpu $name; has "H100"
done
expect 2 verify test/cheats/control_correct/add.py --task test/cheats/tasks/add.py --gpu h101; has "is not one of"
