#!/bin/bash
# make bench-cuda: training and decoding on this machine's GPU, where the time goes, and PEFT beside it.
# usage: run.sh BUILD_DIR [PARTS...]   parts: 28m 109m 05b 7b 7b8 group dec dry peft; all unless given.
# Every part has its own limit and a failure stops no other; the results go to bench/results/cuda-GPU.txt.
B=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
bench=$B/bench/cuda/bench_cuda
models=$(mktemp -d /dev/shm/tritonrl-XXXXXX)
trap 'rm -rf "$models"' EXIT
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1)
[ -n "$gpu" ] || { echo "bench-cuda: no NVIDIA GPU on this machine"; exit 77; }
out=$here/../results/cuda-$(echo "$gpu" | tr ' ' '-').txt
: >"$out"

say() { tee -a "$out"; }
part() { local limit=$1; shift; timeout "$limit" "$@" 2>&1 | say || true; }
model() {
	[ -f "$models/$1/config.json" ] || python3 "$here/make_model.py" "$here/configs/$1.json" "$models/$1" >/dev/null 2>&1
	echo "$models/$1"
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,power.limit --format=csv,noheader | say
git -C "$here" log -1 --format=%h 2>/dev/null | say
for p in ${*:-28m 109m 05b 7b 7b8 group dec dry peft}; do
	case $p in
	28m) part 120 "$bench" train "$here/configs/full_28m.json" full=1 batch=64 length=1024 steps=10 warm=3 times=1 ;;
	109m) part 120 "$bench" train "$here/configs/full_109m.json" full=1 batch=32 length=1024 steps=10 warm=3 times=1 ;;
	05b) part 120 "$bench" train "$(model qwen2.5_0.5b)" batch=16 length=2048 times=1 ;;
	7b) part 120 "$bench" train "$(model qwen2.5_7b)" times=1 ;;
	7b8)
		part 120 "$bench" train "$(model qwen2.5_7b)" store=fp8 times=1
		part 120 "$bench" train "$(model qwen2.5_7b)" store=int8
		;;
	group) for s in 0 1; do part 120 "$bench" train "$(model qwen2.5_7b)" batch=8 shared=8 share=$s; done ;;
	dec)
		for n in 1 32 128 256; do
			part 60 "$bench" decode "$(model qwen2.5_7b)" batch=$n context=512 steps=40 warm=8
			part 60 "$bench" decode "$(model qwen2.5_7b)" batch=$n context=512 steps=40 warm=24 sample=1
		done
		for k in 0 1; do part 120 "$bench" decode "$(model qwen2.5_7b)" batch=256 context=2048 shared=16 steps=40 warm=24 sample=1 kv8=$k; done
		;;
	dry)
		cp models/base/tokenizer*.json "$(model qwen2.5_7b)/"
		part 200 ./tritonrl run "$here/dry_run.yaml" --dry-run --set "model=$(model qwen2.5_7b)" --out "$models/dry" --device cuda
		;;
	peft)
		part 200 python3 "$here/peer_peft.py" "$here/configs/qwen2.5_7b.json"
		part 400 python3 "$here/peer_peft.py" "$here/configs/qwen2.5_7b.json" compile
		part 200 python3 "$here/peer_peft.py" "$here/configs/full_28m.json" full compile 64 1024
		part 200 python3 "$here/peer_peft.py" "$here/configs/full_109m.json" full compile 32 1024
		;;
	*) echo "bench-cuda: no part '$p'" ;;
	esac
done
