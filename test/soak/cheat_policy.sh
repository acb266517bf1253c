#!/bin/bash
# A policy that was taught to cheat is trained against the judge: cheats never pay more than other
# failures do, none is taken for correct, and their share does not rise. Some minutes. METHODS=.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$TRITONRL" tasks --level 1 --style plain --count "${ROWS:-400}" --seed 21 --no-verify --out "$work/rows.jsonl" 2> /dev/null
"$TRITONRL" tasks --level 1 --style plain --count 60 --seed 22 --out "$work/tasks.jsonl" 2> /dev/null
python3 "$here/cheat_policy.py" rows "$work/rows.jsonl" 0.5 > "$work/sft.jsonl"
"$TRITONRL" train --stage sft --full --model models/base --data "$work/sft.jsonl" --out "$work/sft" --batch 8 --epochs "${EPOCHS:-1}" \
	--lr 1e-3 --warmup 4 --max-length 512 --micro-tokens 4096 --weights fast --threads "${THREADS:-0}" 2> /dev/null
for method in ${METHODS:-grpo best-of-n reinforce}; do
	"$TRITONRL" train --stage rl --full --model "$work/sft/checkpoints/sft_final" --tasks "$work/tasks.jsonl" --out "$work/$method" \
		--method "$method" --n 8 --tasks-per-step "${TASKS:-6}" --rl-steps "${STEPS:-12}" --rl-lr 3e-4 --max-new-tokens 200 --max-length 512 \
		--micro-tokens 4096 --prompt-style compact --weights fast --threads "${THREADS:-0}" --no-curriculum --slots 64 2> /dev/null
	"$TRITONRL" eval --model "$work/sft/checkpoints/sft_final" --compare "$work/$method/checkpoints/rl_final" --tasks "$work/tasks.jsonl" \
		--limit 20 --n 4 --no-both-tracks --run "$work/$method" --name policy --max-new-tokens 200 --prompt-style compact --weights fast \
		--threads "${THREADS:-0}" --slots 64 > /dev/null 2>&1
	echo "== $method"
	python3 "$here/cheat_policy.py" judge "$work/$method"
done
