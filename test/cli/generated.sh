#!/bin/bash
# Pairs as the generator draws them, before the judge picks any: each solution is right, so each
# verdict is "correct" or says that the task is bad. A rejection here is a fault of one of the two.
# Plain pairs are small and many; of the others, which have real sizes, a few.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
rows() { "$TRITONRL" tasks --no-verify --quiet --split all "$@" 2>/dev/null; }
{ rows --level 1,2,3 --style plain --count 300 --seed 11 --out -; rows --level 1 --count 60 --seed 12 --out -; } >"$dir/rows.jsonl"
python3 - "$dir/rows.jsonl" >"$dir/pairs.jsonl" <<'END'
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    print(json.dumps({"id": row["id"], "task": row["task"], "candidate": row["solution"]}))
END
"$TRITONRL" verify --jsonl "$dir/pairs.jsonl" --out "$dir/verdicts.jsonl" --quiet || [ $? -le 2 ]
[ "$(wc -l <"$dir/verdicts.jsonl")" = 360 ]
[ "$(grep -c '"reason":"ok"' "$dir/verdicts.jsonl")" -ge 356 ]
wrong=$(grep -v '"reason":"ok"\|"reason":"bad_task"' "$dir/verdicts.jsonl" | cut -c1-300)
[ -z "$wrong" ] || { echo "$wrong"; exit 1; }
