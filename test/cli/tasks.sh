#!/bin/bash
# tasks: the same rows whatever the number of threads; what is kept out does not come out; a stream
# ends when its reader has enough.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
rows() { "$TRITONRL" tasks --no-verify --quiet "$@"; }
ids() { grep -o '"id":"[^"]*"' "$1" | sort; }

rows --level 1,2 --count 400 --seed 5 --threads 1 --out "$dir/one.jsonl"
rows --level 1,2 --count 400 --seed 5 --threads 3 --out "$dir/three.jsonl"
cmp "$dir/one.jsonl" "$dir/three.jsonl"

rows --level 1,2 --count 400 --seed 5 --decontaminate "$dir/one.jsonl" --out "$dir/clean.jsonl"
[ -z "$(comm -12 <(ids "$dir/one.jsonl") <(ids "$dir/clean.jsonl"))" ]
both=$(comm -12 <(grep -o '"ops":"[^"]*,[^"]*"' "$dir/one.jsonl" | sort -u) <(grep -o '"ops":"[^"]*,[^"]*"' "$dir/clean.jsonl" | sort -u) | wc -l)
[ "$both" -le 20 ]          # a composition may come back in another spelling, hardly ever does

rows --stream --seed 5 --level 1,2 --out - | head -400 >"$dir/stream.jsonl"
cmp "$dir/one.jsonl" "$dir/stream.jsonl"

rows --track hybrid --level 2 --count 50 --seed 6 --out "$dir/hybrid.jsonl"
grep -q 'left to the library' "$dir/hybrid.jsonl"

# Pairs from modules: the same rows for any number of threads, for the precision that was asked for.
modules=$(dirname "$0")/../solve
rows --modules "$modules" --count 60 --seed 5 --threads 1 --out "$dir/one_modules.jsonl"
rows --modules "$modules" --count 60 --seed 5 --threads 3 --out "$dir/three_modules.jsonl"
cmp "$dir/one_modules.jsonl" "$dir/three_modules.jsonl"
[ "$(grep -c 'class ModelNew' "$dir/one_modules.jsonl")" = 60 ]
rows --modules "$modules" --count 60 --seed 5 --form pair --precision tf32 --out "$dir/tf32.jsonl"
[ "$(grep -c '# precision: tf32' "$dir/tf32.jsonl")" = 60 ]
rows --modules "$modules" --count 60 --seed 5 --form pair --out "$dir/torch.jsonl"
if grep -q '# precision: tf32' "$dir/torch.jsonl"; then exit 1; fi
for words in "--level 2" "--split validation" "--style plain" "--max-ops 3" --distinct; do
	rc=0
	rows --modules "$modules" --count 1 $words --out "$dir/no.jsonl" 2>"$dir/err" || rc=$?
	[ $rc = 2 ] && grep -q -e "${words%% *} belongs to generated tasks" "$dir/err"
done

# A killed run keeps every line that it has finished.
"$TRITONRL" tasks --no-verify --quiet --stream --level 1 --out "$dir/killed.jsonl" &
pid=$!
for i in $(seq 400); do [ "$(cat "$dir/killed.jsonl" 2>/dev/null | wc -c)" -gt 100000 ] && break; sleep 0.05; done
kill -9 $pid
wait $pid || true
[ "$(tail -c 1 "$dir/killed.jsonl" | od -An -tx1)" = " 0a" ]
[ "$(wc -l <"$dir/killed.jsonl")" -gt 20 ]
