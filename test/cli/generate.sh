#!/bin/bash
# generate: its options, its JSON, the same samples for the same seed, clean ends.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$BUILD_DIR/tool/tiny_model" "$dir/m" src/base/str.c
gen() { "$TRITONRL" generate --model "$dir/m" "$@"; }
expect() { # code, words...: exit code and output in $out
	local want=$1 rc=0
	shift
	out=$("$TRITONRL" generate "$@" 2>&1) || rc=$?
	[ $rc = "$want" ] || fail "'generate $*' ended with $rc, not $want: $out"
}
has() { [[ $out == *"$1"* ]] || fail "'$1' is not in: $out"; }

mkdir "$dir/alone" && cp "$TRITONRL" "$dir/alone/tritonrl"   # without the model that ships with the program
out=$("$dir/alone/tritonrl" generate --prompt x 2>&1) && fail "no model"; has "--model is needed"
expect 2 --model "$dir/m"; has "give one of --prompt"
expect 2 --model "$dir/m" --prompt a --prompt-file b; has "give one of --prompt"
expect 2 --model "$dir/none" --prompt a; has "none"
expect 2 --model "$dir/m" --adapter "$dir/none" --prompt a; has "none"
expect 2 --model "$dir/m" --prompt ""  --raw; has "prompt is empty"
expect 2 --model "$dir/m" --prompt a --top-p 1.5; has "top-p"
expect 2 --model "$dir/m" --prompt "$(printf 'x%.0s' {1..900})" --raw; has "does not fit"

a=$(gen --prompt "void f(int x)" --n 5 --json --seed 3 --max-new-tokens 20)
b=$(gen --prompt "void f(int x)" --n 5 --json --seed 3 --max-new-tokens 20 --slots 2 --threads 1)
c=$(gen --prompt "void f(int x)" --n 5 --json --seed 4 --max-new-tokens 20)
[ "$a" = "$b" ] || fail "samples depend on the batch"
[ "$a" != "$c" ] || fail "the seed changes nothing"
[ "$(wc -l <<<"$a")" = 5 ] || fail "not five lines: $a"
for key in text tokens logprobs finish prompt_tokens; do
	[ "$(grep -c "\"$key\":" <<<"$a")" = 5 ] || fail "no $key in $a"
done
python3 - "$a" <<'END'
import json, sys
for i, line in enumerate(sys.argv[1].splitlines()):
    r = json.loads(line)
    assert r["sample"] == i and len(r["tokens"]) == len(r["logprobs"]) <= 20, r
    assert all(p <= 0 for p in r["logprobs"]) and r["finish"] in ("stop", "length"), r
END

# The same prompt by each way in; a file with the text, standard input, the text itself.
printf 'int main' >"$dir/p"
one=$(gen --prompt 'int main' --raw --temperature 0 --max-new-tokens 8 --json)
two=$(gen --prompt-file "$dir/p" --raw --temperature 0 --max-new-tokens 8 --json)
three=$(gen --prompt-file - --raw --temperature 0 --max-new-tokens 8 --json <"$dir/p")
[ "$one" = "$two" ] && [ "$one" = "$three" ] || fail "ways of giving a prompt differ"
chat=$(gen --prompt 'int main' --temperature 0 --max-new-tokens 8 --json)
[ "$one" != "$chat" ] || fail "the chat template changes nothing"
printf 'import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def forward(self, x):\n        return x\n' >"$dir/task.py"
gen --task "$dir/task.py" --prompt-style compact --max-new-tokens 4 --json >/dev/null

# Plain text: what streams is the text of the JSON.
text=$(gen --prompt 'int main' --raw --temperature 0 --max-new-tokens 30)
json=$(gen --prompt 'int main' --raw --temperature 0 --max-new-tokens 30 --json | python3 -c 'import json, sys; print(json.loads(sys.stdin.read())["text"])')
[ "$text" = "$json" ] || fail "streamed '$text' but sampled '$json'"

# Ctrl-C: what there is comes out, marked, and the program says so.
"$TRITONRL" generate --model "$dir/m" --prompt x --n 20000 --max-new-tokens 400 --json >"$dir/out" 2>"$dir/err" &
pid=$!
for _ in $(seq 100); do [ -s "$dir/out" ] && break; sleep 0.1; done
kill -INT $pid
rc=0
wait $pid || rc=$?
[ $rc = 130 ] || fail "interrupted: exit $rc"
grep -q interrupted "$dir/err" || fail "interrupted: $(cat "$dir/err")"
tail -n 1 "$dir/out" | python3 -c 'import json, sys; assert json.loads(sys.stdin.read())["finish"] == "interrupted"'
