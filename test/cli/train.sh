#!/bin/bash
# train: a finished training is not repeated; a folder can be moved and resumed; chosen options have an effect or are
# refused.
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
weights() { sha256sum < "$1/adapter_model.safetensors"; }
same() { [ "$(weights "$1")" = "$(weights "$2")" ] || fail "$1 and $2 should be the same"; }
differ() { [ "$(weights "$1")" != "$(weights "$2")" ] || fail "$1 and $2 should not be the same"; }
common=(--model models/base --threads 1 --max-length 512 --save-every 1 --save-keep 9)
"$TRITONRL" prepare --count 12 --level 1 --style plain --prompt-style compact --out "$dir/data" --quiet
sft=(train "${common[@]}" --data "$dir/data/sft_train.jsonl" --steps 3 --batch 1)
rl=(train --stage rl "${common[@]}" --tasks "$dir/data/tasks_train.jsonl" --n 4 --tasks-per-step 2 --rl-steps 1 --max-new-tokens 200
	--temperature 1.2 --workers 1)

# Again, moved, continued.
expect 0 "${sft[@]}" --out "$dir/a"
cp -r "$dir/a" "$dir/before"
expect 0 "${sft[@]}" --out "$dir/a"; has "sft: already done"
diff -r "$dir/before/checkpoints" "$dir/a/checkpoints" && diff "$dir/before/metrics.jsonl" "$dir/a/metrics.jsonl" || fail "a finished training changed"
mv "$dir/a" "$dir/moved"
expect 0 "${sft[@]}" --out "$dir/moved"; has "sft: already done"
expect 2 "${sft[@]}" --out "$dir/moved" --lr 1; has "was started with"
rm -r "$dir/moved/checkpoints/sft_final"
expect 0 resume "$dir/moved"; has "sft: 3 steps"; has "$dir/moved/checkpoints/sft_final"
same "$dir/before/checkpoints/sft_final" "$dir/moved/checkpoints/sft_final"
expect 0 resume "$dir/moved"; has "sft: already done"
adapter=$dir/before/checkpoints/sft_final

# A second stage in the same folder has its own configuration; both are continued.
expect 0 "${rl[@]}" --adapter "$adapter" --lr 1e-3 --out "$dir/moved"
cp -r "$dir/moved" "$dir/both"
rm -r "$dir/both/checkpoints/rl_final"
expect 0 resume "$dir/both"; has "sft: already done"; has "rl: 1 steps"
same "$dir/moved/checkpoints/rl_final" "$dir/both/checkpoints/rl_final"

# --lr of the selected stage; dropout only if asked for, so that sampling and training agree.
expect 0 "${rl[@]}" --adapter "$adapter" --rl-lr 1e-3 --out "$dir/rl"
same "$dir/moved/checkpoints/rl_final" "$dir/rl/checkpoints/rl_final"
within=${out#*within }
python3 -c 'import sys; sys.exit(not float(sys.argv[1]) < 1e-3)' "${within%%,*}" || fail "log-probabilities differ: $out"
expect 0 "${rl[@]}" --adapter "$adapter" --lr 1e-5 --out "$dir/slow"
differ "$dir/rl/checkpoints/rl_final" "$dir/slow/checkpoints/rl_final"
expect 0 "${rl[@]}" --adapter "$adapter" --lr 1e-3 --lora-dropout 0.3 --out "$dir/drop"
differ "$dir/rl/checkpoints/rl_final" "$dir/drop/checkpoints/rl_final"
expect 0 "${rl[@]}" --adapter "$adapter" --lr 1e-3 --lora-r 16 --lora-alpha 32 --out "$dir/named"
same "$dir/rl/checkpoints/rl_final" "$dir/named/checkpoints/rl_final"
grep -q '^lora_r: 0$' "$dir/rl/config.yaml" || fail "config.yaml names a rank that was not chosen"

# The page and the folder for Weights & Biases have the options of a training of its own.
expect 0 report "$dir/rl" --wandb
grep -q '"config":"stage: ' "$dir/rl/report.html" && grep -aq 'tasks_per_step' "$dir"/rl/wandb/*/*.wandb || fail "no configuration in the report"

# Options without effect.
expect 2 "${rl[@]}" --adapter "$adapter" --lora-r 8 --out "$dir/no"; has "has rank 16"
expect 2 "${rl[@]}" --adapter "$adapter" --lora-alpha 8 --out "$dir/no"; has "has alpha 32"
expect 2 "${rl[@]}" --adapter "$adapter" --lora-targets q,v --out "$dir/no"; has "other targets"
expect 2 "${rl[@]}" --method grpo --reward speed --out "$dir/no"; has "--reward has no effect"
expect 2 "${rl[@]}" --method reinforce --reward speed --beta 0.5 --out "$dir/no"; has "--reward has no effect with --beta"
for words in "best-of-n --alpha 1" "best-of-n --normalise" "reinforce --no-token-classes" "rwsft --alpha-decay" "grpo --keep 2" "reinforce --threshold 0.5" \
	"rwsft --ratio-clip 0.1"; do
	expect 2 "${rl[@]}" --method $words --out "$dir/no"; has "has no effect with --method ${words%% *}"
done
expect 2 "${rl[@]}" --no-curriculum --share-last 0.9 --out "$dir/no"; has "--share-last has no effect with --no-curriculum"
expect 2 "${rl[@]}" --no-metamorphic --out "$dir/no"; has "--no-metamorphic has no effect"
[ ! -e "$dir/no/checkpoints" ] || fail "a refused training left checkpoints"
printf 'model: models/base\nsft: {lora_r: 8}\nrl: {lora_r: 4}\neval: {tasks: %s}\n' "$dir/data/tasks_train.jsonl" > "$dir/c.yaml"
expect 2 run "$dir/c.yaml" --out "$dir/no"; has "section rl continues the adapter"
printf 'model: models/base\nrl: {method: grpo, reward: speed}\neval: {tasks: %s}\n' "$dir/data/tasks_train.jsonl" > "$dir/c.yaml"
expect 2 run "$dir/c.yaml" --out "$dir/no"; has "--reward has no effect"
