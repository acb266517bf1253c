#!/bin/bash
# tritonrl solve: solutions by rule, judged; exit codes, JSON, modules that cannot be solved.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "solve.sh: $*"; exit 1; }
here=$(dirname "$0")/../solve

"$TRITONRL" solve "$here/gate.py" --out "$tmp/gate_new.py" --quiet || fail "the elementwise module is not solved"
grep -q 'class ModelNew(nn.Module)' "$tmp/gate_new.py" || fail "the solution has no ModelNew"
grep -q 'super(ModelNew, self)' "$tmp/gate_new.py" || fail "super() still names Model"
grep -q 'self.scale = scale' "$tmp/gate_new.py" || fail "the constructor changed"
[ "$(grep -c '^@triton.jit' "$tmp/gate_new.py")" = 1 ] || fail "two results of one chain need one kernel"
"$TRITONRL" verify "$tmp/gate_new.py" --task "$here/gate.py" --quiet >/dev/null || fail "verify rejects the solution"

# Modules in the styles that people write: each is solved, by kernels alone.
"$TRITONRL" solve "$here"/*.py --json --out "$tmp/styles.jsonl" --quiet ||
	fail "unsolved: $(grep '"solved": *false' "$tmp/styles.jsonl" | cut -c1-200)"
[ "$(grep -c '"verdict": *"correct"' "$tmp/styles.jsonl")" = "$(ls "$here"/*.py | wc -l)" ] ||
	fail "not every module has a correct solution"
grep -q '"speedup": *[0-9]' "$tmp/styles.jsonl" || fail "no solution has an estimated speed-up"

# Layers of one kind share their kernels. Code that did not run before forward is left out, imports are not repeated.
"$TRITONRL" solve "$here/repeated_layers.py" --no-verify --out "$tmp/repeated.py" --quiet || fail "repeated layers"
[ "$(grep -c '^@triton.jit' "$tmp/repeated.py")" = 2 ] || fail "three layers of one kind need two kernels"
[ "$(grep -c 'N0=' "$tmp/repeated.py")" = 6 ] || fail "shared kernels have no constants"
[ "$(grep -c '^import torch' "$tmp/repeated.py")" = 2 ] || fail "an import is repeated"
grep -q 'type(norm)\|run_layers\|libdevice' "$tmp/repeated.py" && fail "code that did not run is kept"

# The copies that give each head its own dimension end the kernel of the three projections.
"$TRITONRL" solve "$here/heads.py" --no-verify --out "$tmp/heads.py" --quiet || fail "an attention with heads"
[ "$(grep -c '_kernel\[' "$tmp/heads.py")" = 11 ] || fail "heads: $(grep -c '_kernel\[' "$tmp/heads.py") launches, not 11"

# A module of much work gets a solution for any size.
"$TRITONRL" solve "$here/any_image.py" --no-verify --out "$tmp/any.py" --quiet || fail "a large image"
grep -q 'size = x.shape\[2\]' "$tmp/any.py" || fail "the size of an image is not named"
grep -q "(size + 1) // 2" "$tmp/any.py" || fail "the size after a stride is not rounded up"

"$TRITONRL" solve "$here/volume.py" --no-verify --out "$tmp/volume.py" --quiet || fail "a volume"
grep -q 'size = x.shape\[3\]' "$tmp/volume.py" || fail "the size of a volume is not named"

# The sizes of a model that is too large to be judged may vary, too.
"$TRITONRL" solve "$here/large_model.py" --no-verify --out "$tmp/large.py" --quiet || fail "a large model"
grep -q 'hidden = self.shift.shape\[0\]' "$tmp/large.py" || fail "a size of the model is not named"

# Variants: other schedules, every one judged. In bulk a row without a task does not end the command.
"$TRITONRL" solve "$here/residual_block.py" --variants 4 --json --out "$tmp/variants.jsonl" --quiet ||
	fail "a variant is rejected"
[ "$(grep -o '"solution": *".*' "$tmp/variants.jsonl" | sort -u | wc -l)" -ge 2 ] || fail "all variants are alike"
printf '{"id": "a", "task": "x ="}\n{"id": "b"}\n' >"$tmp/bad.jsonl"
rc=0; "$TRITONRL" solve --jsonl "$tmp/bad.jsonl" --out "$tmp/bad_out.jsonl" --quiet 2>/dev/null || rc=$?
[ $rc = 2 ] || fail "a row without a task has exit code $rc"
grep -q '"verdict": *"unsolved"' "$tmp/bad_out.jsonl" || fail "a syntax error has no row"

rc=0; "$TRITONRL" solve "$here/unsolved/factorisation.py" --json --out "$tmp/unknown.json" --quiet || rc=$?
[ $rc = 1 ] || fail "an unsolved module has exit code $rc"
grep -q '"operator": *"torch.linalg.qr"' "$tmp/unknown.json" || fail "the operator is not named"
rc=0; "$TRITONRL" solve "$here/unsolved/range_in_python.py" --json --out "$tmp/range.json" --quiet || rc=$?
grep -q 'forward computes with the value of a tensor in Python' "$tmp/range.json" || fail "a guessed value is not named"
rc=0; "$TRITONRL" solve "$here/unsolved/weight_decides.py" --json --out "$tmp/decides.json" --quiet || rc=$?
grep -q 'reads the value of a tensor' "$tmp/decides.json" || fail "a weight that decides a branch is not named"
rc=0; "$TRITONRL" solve --quiet 2>/dev/null || rc=$?
[ $rc = 2 ] || fail "no module has exit code $rc"

# A killed run keeps every line that it has finished, also those of a source that has not ended.
python3 - "$here" >"$tmp/three.jsonl" <<'END'
import json, sys
for i in range(3):
    print(json.dumps({"id": f"m{i}", "task": open(sys.argv[1] + "/gate.py").read()}))
END
mkfifo "$tmp/pipe"
"$TRITONRL" solve --jsonl - --no-verify --json --out "$tmp/killed.jsonl" --quiet <"$tmp/pipe" &
pid=$!
exec 9>"$tmp/pipe"
cat "$tmp/three.jsonl" >&9
for i in $(seq 200); do [ "$(cat "$tmp/killed.jsonl" 2>/dev/null | wc -l)" = 3 ] && break; sleep 0.05; done
kill -9 $pid
exec 9>&-
wait $pid 2>/dev/null || true
[ "$(grep -c '"solved": *true.*}$' "$tmp/killed.jsonl")" = 3 ] || fail "a killed run lost lines: $(wc -l <"$tmp/killed.jsonl")"
rc=0; "$TRITONRL" solve "$here/gate.py" --no-verify --quiet --out /dev/full 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q "cannot write '/dev/full'" "$tmp/err" || fail "a full disk: $rc $(cat "$tmp/err")"
