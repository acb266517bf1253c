#!/bin/bash
# eval: one JSON object for one model and for several, with the paired tests; an adapter folder as the model.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
expect() { # code, words...: exit code, output in $out and messages in $dir/err
	local want=$1 rc=0
	shift
	out=$("$TRITONRL" "$@" 2>"$dir/err") || rc=$?
	[ $rc = "$want" ] || fail "'$*' ended with $rc, not $want: $out $(cat "$dir/err")"
}
has() { [[ $out == *"$1"* ]] || fail "'$1' is not in: $out"; }
"$TRITONRL" prepare --count 12 --level 1 --style plain --prompt-style compact --out "$dir/data" --quiet
"$TRITONRL" train --model models/base --data "$dir/data/sft_train.jsonl" --steps 1 --batch 1 --max-length 512 --threads 1 --out "$dir/run" > "$dir/log" 2>&1 ||
	fail "training: $(cat "$dir/log")"
adapter=$dir/run/checkpoints/sft_final
with=(--tasks tasks/plain/test_level1.jsonl --limit 3 --n 2 --max-new-tokens 120 --threads 1 --workers 1)

expect 0 eval --model models/base --compare "$adapter" --compare models/base "${with[@]}" --out "$dir/x.json" --json
[ "$out" = "$(cat "$dir/x.json")" ] || fail "--json and --out differ"
[ "$(ls "$dir" | grep -c '^x.json')" = 1 ] || fail "more than one file: $(ls "$dir")"
python3 - "$dir/x.json" "$adapter" <<'END' || fail "the object: $(head -c 2000 "$dir/x.json")"
import json, sys
x, adapter = json.load(open(sys.argv[1])), sys.argv[2]
assert x["model_path"] == "models/base" and len(x["detailed_results"]) == 6, x["model_path"]
assert [c["model_path"] for c in x["compared"]] == [adapter, "models/base"]
assert x["compared"][1]["metrics"] == x["metrics"] and all(len(c["detailed_results"]) == 6 for c in x["compared"])
groups = {(c["to"], c["group"]): c for c in x["compare"]}
assert groups["models/base", "all"]["p"] == 1 and groups["models/base", "all"]["points"] == 0 and (adapter, "level 1") in groups
assert all(c["from"] == "models/base" and 0 <= c["p"] <= 1 and c["tasks"] == 3 for c in x["compare"])
low, high = x["metrics"]["correct_interval"]
assert low < high, (low, high)
END
expect 0 eval --model models/base "${with[@]}" --json
python3 -c 'import json, sys; x = json.loads(sys.argv[1]); assert "compare" not in x and x["num_tasks"] == 3' "$out" || fail "one model: $out"
expect 0 eval --model models/base --compare "$adapter" "${with[@]}"; has "paired sign-flip test"

# The answers, in the form that verify reads, with the same verdicts.
expect 0 eval --model models/base --compare "$adapter" "${with[@]}" --answers "$dir/answers.jsonl"
"$TRITONRL" verify --jsonl "$dir/answers.jsonl" --json >"$dir/verdicts" 2>/dev/null || true
python3 - "$dir" <<'END' || fail "answers: $(head -c 600 "$dir/answers.jsonl")"
import json, sys
answers = [json.loads(l) for l in open(sys.argv[1] + "/answers.jsonl")]
verdicts = {v["id"]: v for v in map(json.loads, open(sys.argv[1] + "/verdicts"))}
assert len(answers) == 12 == len({a["id"] for a in answers}) and sum(a["id"].endswith("@1") for a in answers) == 6
assert any(a["candidate"] for a in answers) and all("class Model" in a["task"] for a in answers)
for a in answers:
    assert (verdicts[a["id"]]["correct"], verdicts[a["id"]]["reason"]) == (a["correct"], a["reason"]), (a["id"], verdicts[a["id"]])
END

# An adapter names its base model.
expect 0 eval --model models/base --adapter "$adapter" "${with[@]}"; both=$out
expect 0 eval --model "$adapter" "${with[@]}"
[ "$out" = "$both" ] || fail "an adapter as --model gives other results: $out"
one=(--prompt "import" --raw --max-new-tokens 8 --temperature 0 --threads 1)
expect 0 generate --model models/base --adapter "$adapter" "${one[@]}"; both=$out
expect 0 generate --model "$adapter" "${one[@]}"
[ "$out" = "$both" ] || fail "generate with an adapter as --model: $out"
cp -r "$adapter" "$dir/lone"
rm -f "$dir/lone/MANIFEST"
sed -i 's|"models/base"|"no/such/model"|' "$dir/lone/adapter_config.json"
expect 2 eval --model "$dir/lone" "${with[@]}"
grep -q "its base model 'no/such/model' is not here" "$dir/err" || fail "$(cat "$dir/err")"
