#!/bin/bash
# Pairs as the generator draws them, before the judge picks any: each solution is right, so each
# verdict is "correct" or says that the task is bad. A rejection here is a fault of the judge.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$TRITONRL" tasks --level 1,2,3 --count 300 --split all --seed 11 --no-verify --quiet --out "$dir/rows.jsonl" 2>/dev/null
python3 - "$dir/rows.jsonl" >"$dir/pairs.jsonl" <<'END'
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    print(json.dumps({"id": row["id"], "task": row["task"], "candidate": row["solution"]}))
END
"$TRITONRL" verify --jsonl "$dir/pairs.jsonl" --out "$dir/verdicts.jsonl" --quiet || [ $? -le 2 ]
[ "$(wc -l <"$dir/verdicts.jsonl")" = 300 ]
[ "$(grep -c '"reason":"ok"' "$dir/verdicts.jsonl")" -ge 285 ]
wrong=$(grep -v '"reason":"ok"\|"reason":"bad_task"' "$dir/verdicts.jsonl" | cut -c1-300)
[ -z "$wrong" ] || { echo "$wrong"; exit 1; }
