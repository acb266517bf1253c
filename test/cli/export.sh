#!/bin/bash
# tritonrl export: a folder in 8 bits answers as its unpacked bf16 weights do; adapters are merged; the files of the
# tokenizer come along.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "export.sh: $*"; exit 1; }
here=$(dirname "$0")/../..

"$TRITONRL" export --model "$here/models/base" --form int8 --out "$tmp/packed" --quiet
"$TRITONRL" export --model "$tmp/packed" --form bf16 --out "$tmp/unpacked" --quiet
"$TRITONRL" export --model "$here/models/base" --form f32 --out "$tmp/same" --quiet
size() { stat -c %s "$tmp/$1/model.safetensors"; }
[ $(($(size packed) * 100)) -lt $(($(size unpacked) * 53)) ] || fail "8 bits take $(size packed) of $(size unpacked) bytes"
for name in tokenizer.json tritonrl.json; do
	cmp -s "$here/models/base/$name" "$tmp/packed/$name" || fail "$name was not copied"
done
answers() {
	"$TRITONRL" generate --model "$1" --task "$here/test/solve/gate.py" --n 3 --seed 5 --max-new-tokens 60 --device cpu --json --quiet
}
for name in packed unpacked same; do answers "$tmp/$name" >"$tmp/$name.jsonl"; done
answers "$here/models/base" >"$tmp/base.jsonl"
[ "$(wc -l <"$tmp/base.jsonl")" = 3 ] || fail "no samples"
cmp -s "$tmp/packed.jsonl" "$tmp/unpacked.jsonl" || fail "the folder in 8 bits answers otherwise than its unpacked weights"
cmp -s "$tmp/same.jsonl" "$tmp/base.jsonl" || fail "a copy in fp32 answers otherwise"
cmp -s "$tmp/packed.jsonl" "$tmp/base.jsonl" && fail "8 bits changed no probability: they were not read"

# An adapter: the folder with it merged answers as model and adapter do, up to rounding.
printf '{"prompt": "a b", "completion": "c d"}\n' >"$tmp/rows.jsonl"
"$TRITONRL" train --stage sft --model "$here/models/base" --data "$tmp/rows.jsonl" --out "$tmp/run" --steps 2 --lora-r 2 --lr 0.01 \
	--device cpu --quiet >/dev/null 2>"$tmp/err" || fail "training: $(tail -3 "$tmp/err")"
"$TRITONRL" export --model "$tmp/run/checkpoints/sft_final" --form f32 --out "$tmp/merged" --quiet
cmp -s "$tmp/merged/model.safetensors" "$tmp/same/model.safetensors" && fail "the adapter was not merged"
[ -s "$tmp/merged/config.json" ] || fail "the merged folder has no config.json"

rc=0; "$TRITONRL" export --out "$tmp/none" 2>/dev/null || rc=$?
[ $rc = 2 ] || fail "no model has exit code $rc"
echo "export: all good"
