#!/bin/bash
# tritonrl cache: what the judge leaves in the cache folder is shown; clean deletes prepared tasks, the oldest first
# if a limit is given, and other entries only with --all.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "cache.sh: $*"; exit 1; }
export XDG_CACHE_HOME="$tmp/cache"

"$TRITONRL" cache >"$tmp/out" || fail "an absent folder is an error"
grep -q "^together  *0.0  *0  in '$tmp/cache/tritonrl'" "$tmp/out" || fail "empty: $(cat "$tmp/out")"
"$TRITONRL" verify test/cheats/control_correct/linear.py --task test/cheats/tasks/linear.py >/dev/null 2>&1 || fail "verify"
[ -d "$tmp/cache/tritonrl/tasks" ] || fail "the judge uses another folder"
head -c 1000 /dev/urandom >"$tmp/cache/tritonrl/tasks/new"
"$TRITONRL" cache show >"$tmp/out"
grep -q '^tasks  *[0-9.]*  *[1-9][0-9]* .*prepared tasks of the judge' "$tmp/out" || fail "show: $(cat "$tmp/out")"
for i in 1 2 3; do head -c 1048576 /dev/urandom >"$tmp/cache/tritonrl/tasks/old$i"; touch -d "$i days ago" "$tmp/cache/tritonrl/tasks/old$i"; done
mkdir -p "$tmp/cache/tritonrl/venv/lib"
echo x >"$tmp/cache/tritonrl/venv/lib/file"
mkdir -p "$tmp/cache/tritonrl/peers" "$tmp/cache/tritonrl/cudnn"
touch "$tmp/cache/tritonrl/baselines.db" "$tmp/cache/tritonrl/cuda-90.choices"
"$TRITONRL" cache show >"$tmp/out"
! grep 'not made by this version' "$tmp/out" || fail "an entry of ours has no purpose"
touch "$tmp/cache/tritonrl/stranger"
"$TRITONRL" cache show | grep -q '^stranger .*not made by this version' || fail "a foreign file has a purpose"
"$TRITONRL" cache clean --older-than 2.5 >"$tmp/out"
grep -q '^deleted 1 files, 1.0 MiB' "$tmp/out" && [ ! -e "$tmp/cache/tritonrl/tasks/old3" ] || fail "older-than: $(cat "$tmp/out")"
"$TRITONRL" cache show --json | python3 -c 'import json, sys
c = json.load(sys.stdin)
e = {x["name"]: x for x in c["entries"]}
assert e["tasks"]["bytes"] > 2 << 20 and e["tasks"]["files"] >= 3 and e["venv"]["files"] == 1' || fail "JSON"
size=$("$TRITONRL" cache show --json | python3 -c 'import json, sys; print(*[x["bytes"] >> 20 for x in json.load(sys.stdin)["entries"] if x["name"] == "tasks"])')
"$TRITONRL" cache clean --limit-mb "$size" >/dev/null
[ ! -e "$tmp/cache/tritonrl/tasks/old2" ] && [ -e "$tmp/cache/tritonrl/tasks/old1" ] || fail "limit: $(ls "$tmp/cache/tritonrl/tasks")"
"$TRITONRL" cache clean >/dev/null
[ -z "$(ls "$tmp/cache/tritonrl/tasks")" ] && [ -e "$tmp/cache/tritonrl/venv/lib/file" ] || fail "clean: $(ls -R "$tmp/cache")"
"$TRITONRL" verify test/cheats/control_correct/linear.py --task test/cheats/tasks/linear.py >/dev/null 2>&1 || fail "verify after clean"
"$TRITONRL" cache clean --all >/dev/null
[ ! -e "$tmp/cache/tritonrl" ] || fail "--all: $(ls -R "$tmp/cache")"
for words in "wipe" "show --all" "clean now"; do
	rc=0
	"$TRITONRL" cache $words >/dev/null 2>&1 || rc=$?
	[ $rc = 2 ] || fail "'cache $words' gave exit code $rc"
done
echo "cache: all good"
