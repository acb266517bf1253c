#!/bin/bash
# The recipe of the shipped model, configs/writer.yaml, at toy size: modules are split by repository and solved, the run
# survives a kill and ends with the same bits, and `export --run` makes a folder that ships, with its card.
set -eu
fail() { echo "recipe.sh: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
here=$(dirname "$0")/../..
python3 - "$here" "$dir" <<'END'
import glob, json, sys
here, dir = sys.argv[1:]
with open(dir + "/modules.jsonl", "w") as f:
    for i, path in enumerate(sorted(glob.glob(here + "/test/solve/*.py"))[:12] + sorted(glob.glob(here + "/test/solve/unsolved/*.py"))[:1]):
        # The repository is in the id, or in a column.
        row = {"id": f"owner_{i % 9}/{i}"} if i % 2 else {"id": f"module-{i}", "repo_name": f"owner_{i % 9}"}
        f.write(json.dumps({**row, "task": open(path).read()}) + "\n")
c = json.load(open(here + "/models/init/qwen3-36m.json"))
c.update(hidden_size=64, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2, head_dim=32, intermediate_size=128)
json.dump(c, open(dir + "/tiny.json", "w"))
END
recipe() { # run folder
	"$TRITONRL" run "$here/configs/writer.yaml" --out "$dir/$1" --set init="$dir/tiny.json" --set tokenizer="$here/models/writer" \
		--set prepare.input="$dir/modules.jsonl" --set prepare.rl_count=4 --set prepare.validation=0.3 --set sft.steps=6 --set sft.batch=2 \
		--set sft.save_every=1 --set sft.warmup=1 --set micro_tokens=4096 --set rl.steps=2 --set rl.n=2 --set rl.tasks_per_step=2 \
		--set rl.save_every=1 --set max_new_tokens=40 --set eval.n=2 --set eval.k=1,2 --set eval.limit=2 --set workers=1 --set threads=1 "${@:2}"
}
"$TRITONRL" run "$here/configs/writer.yaml" --out "$dir/dry" --set init="$dir/tiny.json" --set tokenizer="$here/models/writer" \
	--set prepare.input="$dir/modules.jsonl" --set workers=1 --dry-run >"$dir/out" 2>&1 || fail "a dry run: $(cat "$dir/out")"
rc=0
recipe none --stages prepare,eval --set prepare.validation=0 --set model="$here/models/base" >"$dir/out" 2>&1 || rc=$?
[ $rc = 2 ] && grep -q 'held no task back' "$dir/out" || fail "an evaluation without tasks: $(cat "$dir/out")"
recipe whole >"$dir/out" 2>&1 || fail "the recipe: $(cat "$dir/out")"
python3 - "$dir/whole" <<'END' || fail "data: $(tail -n 30 "$dir/out")"
import json, sys
data = sys.argv[1] + "/data/processed/"
rows = {n: [json.loads(l) for l in open(data + n + ".jsonl")] for n in ("modules_train", "tasks_train", "tasks_validation", "sft_train")}
ids = {n: [r["id"] for r in rows[n]] for n in rows}
repository = lambda n: {r.get("origin", {}).get("repo_name") or r["id"].split("/")[0] for r in rows[n] if r["source"] == "jsonl"}
assert len(ids["modules_train"]) >= 4 and ids["modules_train"] == ids["sft_train"], ids
assert ids["tasks_validation"] and not repository("tasks_validation") & (repository("modules_train") | repository("tasks_train")), ids
assert not set(ids["modules_train"]) & set(ids["tasks_train"]) and sum(r["source"] == "builtin" for r in rows["tasks_train"]) == 4, ids
END

# Killed while it trains, then continued; stopped in the next stage as a machine's time limit does, then continued.
recipe cut >/dev/null 2>&1 &
pid=$!
for _ in $(seq 1200); do
	[ -e "$dir/cut/checkpoints/sft-000002/MANIFEST" ] && break
	sleep 0.05
done
child=$(pgrep -P $pid || echo $pid)
kill -9 $child
wait $pid 2>/dev/null || true
[ ! -e "$dir/cut/checkpoints/sft_final" ] || fail "the run was over before it was killed"
rc=0
recipe cut --stages prepare,sft >"$dir/out" 2>&1 || fail "a killed run: $(tail -n 5 "$dir/out")"
grep -q 'prepare: already done' "$dir/out" && grep -q 'sft continues' "$dir/out" || fail "what was done is done again: $(cat "$dir/out")"
recipe cut >"$dir/out" 2>&1 || fail "the rest: $(tail -n 5 "$dir/out")"
weights() { sha256sum <"$dir/$1/checkpoints/$2/model.safetensors"; }
for stage in sft_final rl_final; do [ "$(weights whole $stage)" = "$(weights cut $stage)" ] || fail "other weights after a kill: $stage"; done

"$TRITONRL" export --run "$dir/cut" --form int8 --out "$dir/writer" --quiet
for f in config.json config.yaml model.safetensors tokenizer.json tritonrl.json README.md; do [ -s "$dir/writer/$f" ] || fail "no $f in the folder"; done
for words in '| jsonl | 13 |' '| modules_train.jsonl |' '| sft | 6 |' '| rl | 2 |' 'pass@2'; do
	grep -qF -e "$words" "$dir/writer/README.md" || fail "the card has no '$words': $(cat "$dir/writer/README.md")"
done
"$TRITONRL" generate --model "$dir/writer" --task "$here/test/solve/gate.py" --max-new-tokens 8 --quiet >/dev/null || fail "the folder is no model"
rc=0
"$TRITONRL" export --run "$dir" --out "$dir/no" >"$dir/out" 2>&1 || rc=$?
[ $rc = 2 ] && grep -q 'has no finished model' "$dir/out" || fail "a folder without a run: $(cat "$dir/out")"
echo "recipe: all good"
