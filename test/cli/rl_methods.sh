#!/bin/bash
# train --stage rl: every method with every option it has, a step or two of each; what they share and
# where they must differ.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
sed -n "7p;20p" tasks/plain/test_level2.jsonl > "$dir/tasks.jsonl"      # of which the model gets some right and some wrong
steps=1
rl() { # name, options...
	local name=$1
	shift
	"$TRITONRL" train --stage rl --model models/base --tasks "$dir/tasks.jsonl" --out "$dir/$name" --n 6 --rl-steps $steps --tasks-per-step 2 \
		--max-new-tokens 400 --slots 8 --max-length 1024 --prompt-style compact --weights fast --threads 1 --workers 1 --rl-lr 1e-3 --no-curriculum \
		--lora-dropout 0 --temperature 1.2 "$@" > "$dir/$name.out" 2>&1 || fail "$name: $(cat "$dir/$name.out")"
	[ "$(grep -c '"stage":"rl"' "$dir/$name/metrics.jsonl")" = $steps ] || fail "$name: not $steps steps: $(cat "$dir/$name/metrics.jsonl")"
}
weights() { sha256sum < "$dir/$1/checkpoints/rl_final/adapter_model.safetensors"; }
same() { [ "$(weights "$1")" = "$(weights "$2")" ] || fail "$1 and $2 should train the same"; }
differ() { [ "$(weights "$1")" != "$(weights "$2")" ] || fail "$1 and $2 should not train the same"; }

rl best --method best-of-n --keep 2 --threshold 0.3
rl best_again --method best-of-n --keep 2 --threshold 0.3
rl best_none --method best-of-n --keep 2 --threshold 9
rl best_all --method best-of-n --keep 6 --threshold 0
rl best_beta --method best-of-n --keep 6 --threshold 0 --beta 1
rl reinforce --method reinforce
rl reinforce_form --method reinforce --reward reinforce
rl reinforce_rank --method reinforce --rank-speed
rl rwsft --method rwsft --threshold 0.1
rl grpo --method grpo
rl grpo_plan --method grpo --alpha 1
steps=4
rl grpo_alpha --method grpo --alpha 1 --n 16
rl grpo_decay --method grpo --alpha 1 --alpha-decay --n 16
steps=1
rl grpo_one --method grpo --no-token-classes
rl grpo_beta --method grpo --beta 0.5
rl grpo_norm --method grpo --normalise
rl grpo_clip --method grpo --inner 3 --ratio-clip 0.0001
rl grpo_loose --method grpo --inner 3 --ratio-clip 10
same best best_again
differ best best_none
differ best_all best_beta
differ best reinforce
differ reinforce reinforce_form
differ reinforce rwsft

differ grpo grpo_plan
differ grpo_alpha grpo_decay
differ grpo grpo_one
differ grpo grpo_beta
differ grpo_one grpo_beta
differ grpo grpo_norm
differ grpo_clip grpo_loose
