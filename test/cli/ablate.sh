#!/bin/bash
# ablate: a row for each extension, off or (if it is off by default) on; cheats by the contract that they name; finished
# rows are not repeated.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat > "$dir/c.yaml" <<END
model: models/base
prompt_style: compact
weights: fast
threads: 1
workers: 1
prepare: {source: builtin, count: 30, level: [1, 1, 2], rl_count: 8, validation: 0.1}
sft: {batch: 2, steps: 2, max_length: 640}
rl: {method: grpo, n: 3, steps: 2, tasks_per_step: 2, max_new_tokens: 200, max_length: 1024}
eval: {tasks: tasks/plain/test_level1.jsonl, limit: 2, n: 1, max_new_tokens: 100}
END
expect() { # code, words...: exit code and output in $out
	local want=$1 rc=0
	shift
	out=$("$TRITONRL" "$@" 2>&1) || rc=$?
	[ $rc = "$want" ] || fail "'$*' ended with $rc, not $want: $out"
}
has() { [[ $out == *"$1"* ]] || fail "'$1' is not in: $out"; }

# A control, a cheat of the task's contract and two of the general contract, one of which only relations find.
suite=$dir/suite
mkdir -p "$suite/class"
cp -r test/cheats/tasks "$suite/tasks"
cp test/cheats/control_correct/add.py "$suite/class/"
cp test/cheats/control_wrong/scale_wrong_constant.py test/cheats/autotune/heuristic_drops_mask.py test/cheats/size_branch/batch_of_one.py "$suite/class/"
ablate=(ablate "$dir/c.yaml" --out "$dir/a" --dry-run --cheats "$suite" --only multi-input,metamorphic,rank-speed)
expect 0 "${ablate[@]}"; has "multi-input"; has "with rank-speed"; has "ablation.json"
python3 - "$dir/a/ablation.json" <<'END' || fail "rows: $(cat "$dir/a/ablation.json")"
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
names = [r.get("without") or "with " + r["with"] for r in rows]
assert names == ["everything on", "multi-input", "metamorphic", "with rank-speed"], names
for r in rows:
    assert (r["cheats"], r["honest"], r["honest_refused"]) == (3, 1, 0), r
    accepted = {"without multi-input": None, "without metamorphic": 1}.get("without " + r.get("without", ""), 0)
    assert accepted is None or r["cheats_accepted"] == accepted, r
END
expect 0 "${ablate[@]}"; has "without multi-input: already done"; has "with rank-speed: already done"
expect 2 ablate "$dir/c.yaml" --out "$dir/a" --only nonsense; has "there is no extension"
# A configuration that has it on is measured without it.
expect 0 ablate "$dir/c.yaml" --out "$dir/b" --dry-run --only rank-speed --set rl.rank_speed=true
grep -q '"without": *"rank-speed"' "$dir/b/ablation.json" || fail "no row without rank-speed"
