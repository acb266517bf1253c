#!/bin/bash
# The writer's model on a GPU machine that has neither a compiler nor our libraries and allows short calls only.
#
#   bench/gpu_writer.sh pack RUN FILE.tar.xz [TASKS.jsonl...]   here: program, CUDA library, run folder, tasks, in one file
#   bench/gpu_writer.sh train WORK SECONDS                      there, until it prints "trained": stage sft of the run
#   bench/gpu_writer.sh figures WORK SECONDS OUT                there: weights in 8 bits, answers, RL from three seeds
#
# Before `pack`: make wheel cuda, and stage prepare of the run here (`run configs/writer.yaml --stages prepare --out RUN`). The
# options of that call are the run's. WORK is a folder outside of the tree; the first call there
# finds FILE as bundle.tar.xz beside it or in the current folder. OUT gets model.N (parts of 15 MB), metrics and answers.tar.gz:
# the answers are judged elsewhere (`verify --jsonl`), because sampling takes seconds and judging minutes.
# DEVICE=cpu and TOKENS=16 try the script without a GPU.
set -u
device=${DEVICE:-cuda} tokens=${TOKENS:-3072} start=$SECONDS

pack() { # RUN FILE TASKS...
	local run=$1 file=$2 folder
	shift 2
	folder=$(mktemp -d)
	mkdir -p "$folder/program" "$folder/tasks"
	(cd "$folder/program" && unzip -q -o "$OLDPWD"/build/release/tritonrl-*.whl) || return 1
	[ "$device" = cpu ] || strip -o "$folder/program/tritonrl/bin/libtritonrl_cuda.so" build/release/libtritonrl_cuda.so || return 1
	mkdir "$folder/models" && cp -r "$run" "$folder/run" && cp -r models/init models/writer "$folder/models/"
	[ $# = 0 ] || cp "$@" "$folder/tasks/"
	tar -C "$folder" -cf - . | xz -T0 -3 >"$file"
	rm -r "$folder"
	ls -l "$file"
}

# Sets P (the program), R (the run), A (the answers) and the time that is left.
enter() { # WORK
	work=$(realpath -m "$1") P=$work/program/tritonrl/bin/tritonrl R=$work/run A=$work/answers
	if [ ! -x "$P" ]; then
		mkdir -p "$work"
		python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "${BUNDLE:-bundle.tar.xz}" "$work" || exit 1
		chmod +x "$P"
	fi
	export LD_LIBRARY_PATH=/usr/local/cuda/lib64:${LD_LIBRARY_PATH-}
	cd "$work" && mkdir -p "$A" && "$P" version
}
left() { echo $(($1 - (SECONDS - start))); }

train() { # WORK SECONDS
	local steps
	enter "$1"
	steps=$(sed -n '/^sft:/,/^[a-z]*:$/s/^  steps: //p' "$R/config.yaml" | head -1)
	timeout -s INT -k 25 "$(left "$2")" "$P" run "$R/config.yaml" --out "$R" --device "$device" --stages sft >"$work/train.log" 2>&1
	tail -n 1 "$work/train.log"
	tail -n 1 "$R/metrics.jsonl"
	[ -d "$R/checkpoints/sft_final" ] && echo "trained: $steps steps"
}

answers() { # model, tasks, name, samples, temperature, most seconds
	timeout -k 5 "$6" "$P" eval --model "$1" --tasks "$2" --n "$4" --k 1 --temperature "$5" --stage-limit ast --no-both-tracks \
		--no-controls --no-mutation --no-general --max-new-tokens "$tokens" --slots 512 --weights bf16 --device "$device" \
		--answers "$A/$3.jsonl" --out "$A/$3.json" >"$A/$3.log" 2>&1
	echo "$3: exit $?, $(cat "$A/$3.jsonl" 2>/dev/null | wc -l) answers"
}

against_judge() { # model, seed, most seconds
	timeout -s INT -k 20 "$3" "$P" train --stage rl --model "$1" --full --weights bf16 --tasks "$R/data/processed/modules_train.jsonl" \
		--method grpo --n 16 --tasks-per-step 32 --rl-steps "${STEPS:-14}" --lr 5e-5 --schedule linear --warmup 2 --no-token-classes \
		--normalise --no-curriculum --refill --temperature 1 --max-new-tokens "$tokens" --max-length 4096 --micro-tokens 65536 --slots 512 \
		--prompt-style outline --track strict --seed "$2" --save-every 5 --device "$device" --out "$work/rl$2" >"$A/rl$2.log" 2>&1
	echo "rl $2: exit $?"
	tail -n 1 "$work/rl$2/metrics.jsonl"
}

figures() { # WORK SECONDS OUT
	local limit=$2 out model best seed name
	out=$(realpath -m "$3")
	mkdir -p "$out"
	enter "$1"
	model=$R/checkpoints/sft_final
	[ -d "$model" ] || { echo "not trained yet: $model is missing"; return 1; }
	"$P" export --run "$R" --form int8 --out "$work/model" || return 1
	split -b 15000000 -d -a 1 "$work/model/model.safetensors" "$out/model."
	cp "$R/metrics.jsonl" "$work"/model/{README.md,config.json,config.yaml} "$out/"
	answers "$model" "$R/data/processed/tasks_validation.jsonl" validation_greedy 1 0 60
	answers "$model" "$R/data/processed/tasks_validation.jsonl" validation_10 10 0.8 60
	for tasks in tasks/*.jsonl; do
		name=$(basename "$tasks" .jsonl)
		[ -e "$tasks" ] && answers "$model" "$tasks" "${name}_greedy" 1 0 60 && answers "$model" "$tasks" "${name}_10" 10 0.8 60
	done
	for seed in 1 2 3; do
		[ "$(left "$limit")" -gt 60 ] || break
		against_judge "$model" $seed $((($(left "$limit") - 30) / (4 - seed) - 14))
		best=$work/rl$seed/checkpoints/rl_final
		[ -d "$best" ] || best=$(ls -d "$work/rl$seed"/checkpoints/rl-* 2>/dev/null | tail -n 1)
		[ -n "$best" ] && answers "$best" "$R/data/processed/tasks_validation.jsonl" "validation_10_rl$seed" 10 0.8 30
	done
	tar -C "$work" -czf "$out/answers.tar.gz" answers
	ls -l "$out"
}

case ${1-} in
pack | train | figures) "$@" ;;
*) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
