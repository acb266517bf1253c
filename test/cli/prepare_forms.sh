#!/bin/bash
# tritonrl prepare: the forms that data comes in. Folders of modules, rows without a solution, the
# columns of instruction data, [[args], {kwargs}], Parquet; levels and numbers of tasks, for rl too.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "prepare_forms.sh: $*"; exit 1; }
rows() { wc -l <"$1"; }
field() { # file, id, member
	python3 -c 'import json, sys
print(next(r[sys.argv[3]] for r in map(json.loads, open(sys.argv[1])) if r["id"] == sys.argv[2]))' "$@"
}
module() { # name, class line, body of forward
	printf 'import torch\nimport torch.nn as nn\nfrom torch.nn.parallel import DataParallel\n\n\nclass %s:\n' "$2"
	printf '    def __init__(self, scale=1.0, shift=0.0):\n        super().__init__()\n'
	printf '        self.scale, self.shift = scale, shift\n\n    def forward(self, x, other=None):\n        return %s\n\n\n' "$3"
	printf 'def get_inputs():\n    return %s\n\n\ndef get_init_inputs():\n    return %s\n' "$4" "$5"
}

# A folder of modules: classes of any name, arguments in KernelBook's form, a forward that is inherited.
mkdir -p "$tmp/mods/deep"
module half 'Half(nn.Module)' 'torch.relu(x * self.scale + self.shift)' '[torch.rand(4, 8)]' "[[], {'shift': 0.5}]" >"$tmp/mods/half.py"
module kw 'Model(nn.Module)' 'x * self.scale - other' "[[torch.rand(8, 16)], {'other': torch.rand(8, 16)}]" '[[2.0], {}]' >"$tmp/mods/deep/kw.py"
{ module base 'Base(nn.Module)' 'torch.tanh(x * self.scale)' '[torch.rand(4, 8)]' '[3.0]'
	printf '\n\nclass Quiet(object):\n    pass\n\n\nclass Child(Quiet, Base):\n    pass\n'; } >"$tmp/mods/child.py"
printf 'import torch\n\nx = 1\n' >"$tmp/mods/none.py"
module bad 'Bad(nn.Module)' 'torch.relu(x.nothing_such())' '[torch.rand(4, 8)]' '[]' >"$tmp/mods/runs_not.py"
"$TRITONRL" prepare --source modules --input "$tmp/mods" --out "$tmp/m" --validation 0 --near 0 --verify --quiet
[ "$(rows "$tmp/m/tasks_train.jsonl")" = 3 ] || fail "modules: $(cat "$tmp/m/dropped.jsonl")"
[ "$(rows "$tmp/m/sft_train.jsonl")" = 0 ] || fail "a task without a solution became a training row"
field "$tmp/m/tasks_train.jsonl" half task >"$tmp/half.py"
grep -q 'class Model(nn.Module)' "$tmp/half.py" && grep -q 'return \[1.0, 0.5\]' "$tmp/half.py" || fail "half: $(cat "$tmp/half.py")"
grep -q DataParallel "$tmp/half.py" && fail "an import that nothing uses is left"
field "$tmp/m/tasks_train.jsonl" kw task | grep 'return \[torch.rand(8, 16), torch.rand(8, 16)\]' >/dev/null || fail "keyword arguments of forward"
field "$tmp/m/tasks_train.jsonl" child task | grep 'class Model(Quiet, Base)' >/dev/null || fail "an inherited forward"
[ "$(field "$tmp/m/dropped.jsonl" none reason)" = no_entry ] || fail "a file without a module"
# What was dropped says what the judge found.
field "$tmp/m/dropped.jsonl" runs_not judge | grep 'bad_task: .*nothing_such' >/dev/null || fail "dropped.jsonl without the judge's reason"

# Rows of KernelBook without triton_code, and the columns of instruction data.
python3 - "$tmp" <<'PY'
import json, sys
tmp = sys.argv[1]
half = open(tmp + "/mods/half.py").read()
kernel = '''import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, scale, shift, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, tl.maximum(v * scale + shift, 0.0), mask=i < n)


class HalfNew(nn.Module):
    def __init__(self, scale=1.0, shift=0.0):
        super().__init__()
        self.scale, self.shift = scale, shift

    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 64),)](x, y, self.scale, self.shift, x.numel(), BLOCK=64)
        return y
'''
with open(tmp + "/book.jsonl", "w") as f:
    f.write(json.dumps({"entry_point": "Half", "python_code": half, "repo_name": "a/b"}) + "\n")
with open(tmp + "/instruct.jsonl", "w") as f:
    f.write(json.dumps({"instruction": "Write a kernel.", "pytorch_code": half, "triton_code": kernel}) + "\n")
    f.write(json.dumps({"instruction": "Write a kernel.", "pytorch_code": half.replace("relu", "sigmoid"), "triton_code": ""}) + "\n")
    f.write(json.dumps({"instruction": "No.", "pytorch_code": half.replace("relu", "tanh"), "triton_code": kernel}) + "\n")
PY
"$TRITONRL" prepare --source kernelbook --input "$tmp/book.jsonl" --out "$tmp/k" --validation 0 --quiet
[ "$(rows "$tmp/k/tasks_train.jsonl")" = 1 ] && [ "$(rows "$tmp/k/sft_train.jsonl")" = 0 ] || fail "KernelBook without triton_code"
for source in jsonl kernelbook; do
	"$TRITONRL" prepare --source $source --input "$tmp/instruct.jsonl" --out "$tmp/i" --validation 0 --near 0 --verify --quiet
	[ "$(rows "$tmp/i/tasks_train.jsonl")" = 2 ] && [ "$(rows "$tmp/i/sft_train.jsonl")" = 1 ] || fail "instruction data: $(cat "$tmp/i/dropped.jsonl")"
	grep -q 'class ModelNew' "$tmp/i/sft_train.jsonl" || fail "the solution's class"
	grep '"reason":"not_correct"' "$tmp/i/dropped.jsonl" | grep '"judge":"wrong_value: ' >/dev/null || fail "no judge's reason: $(cat "$tmp/i/dropped.jsonl")"
done

# Parquet: Python reads it if pyarrow is there (here a stand-in that reads JSON lines behind the magic).
{ printf 'PAR1\n'; cat "$tmp/instruct.jsonl"; } >"$tmp/rows.parquet"
mkdir -p "$tmp/lib/pyarrow"
: >"$tmp/lib/pyarrow/__init__.py"
cat >"$tmp/lib/pyarrow/parquet.py" <<'PY'
import json


class Batch:
    def __init__(self, rows):
        self.to_pylist = lambda: rows


class ParquetFile:
    def __init__(self, path):
        self.rows = [json.loads(line) for line in open(path) if line[0] == "{"]
        if not self.rows:
            raise ValueError("no footer\nsecond line")

    def iter_batches(self, batch_size):
        yield Batch(self.rows[:1])
        yield Batch(self.rows[1:])
PY
PYTHONPATH="$tmp/lib" "$TRITONRL" prepare --source kernelbook --input "$tmp/rows.parquet" --out "$tmp/p" --validation 0 --near 0 --verify --quiet
cmp "$tmp/p/tasks_train.jsonl" "$tmp/i/tasks_train.jsonl" || fail "Parquet gives other rows"
[ "$(ls -A "$tmp/p" | wc -l)" = 9 ] || fail "a temporary file is left: $(ls -A "$tmp/p")"
printf 'PAR1 and nothing' >"$tmp/broken.parquet"
rc=0
PYTHONPATH="$tmp/lib" "$TRITONRL" prepare --source kernelbook --input "$tmp/broken.parquet" --out "$tmp/q" --quiet 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q 'Parquet file.*no footer' "$tmp/err" || fail "a broken file: $rc $(cat "$tmp/err")"
printf 'raise ImportError\n' >"$tmp/lib/pyarrow/parquet.py"
rc=0
PYTHONPATH="$tmp/lib" "$TRITONRL" prepare --source kernelbook --input "$tmp/rows.parquet" --out "$tmp/q" --quiet 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q 'install pyarrow' "$tmp/err" || fail "no pyarrow: $rc $(cat "$tmp/err")"
[ ! -e "$tmp/q/prepare.json" ] || fail "a failed run wrote its report"

# Levels and numbers: prepare keeps rows of the levels that --level names, rl takes a number of tasks of a level.
"$TRITONRL" tasks --style plain --level 1,2 --count 12 --out "$tmp/pairs.jsonl" --quiet
"$TRITONRL" prepare --source jsonl --input "$tmp/pairs.jsonl" --out "$tmp/l" --near 0 --validation 0 --level 2 --limit 4 --quiet
[ "$(rows "$tmp/l/tasks_train.jsonl")" = 4 ] || fail "--limit"
grep -q '"level":1' "$tmp/l/tasks_train.jsonl" && fail "--level 2 keeps level 1"
grep -q '"reason":"other_level"' "$tmp/l/dropped.jsonl" || fail "no reason for another level"
printf 'model: models/base\nfull: true\nrl: {tasks: %s, limit: 3, level: 2, epochs: 1, tasks_per_step: 1, n: 2, max_new_tokens: 8}\n' "$tmp/pairs.jsonl" >"$tmp/rl.yaml"
"$TRITONRL" train --stage rl --config "$tmp/rl.yaml" --out "$tmp/run" --keep-texts none >"$tmp/out" 2>&1 || fail "rl: $(cat "$tmp/out")"
grep -q '^rl: 3 steps' "$tmp/out" || fail "rl --rl-limit: $(tail -n 1 "$tmp/out")"
[ "$(grep -c '"level2_share":1.0' "$tmp/run/metrics.jsonl")" = 3 ] || fail "rl --rl-level: $(cat "$tmp/run/metrics.jsonl")"
"$TRITONRL" train --stage rl --config "$tmp/rl.yaml" --rl-level 3 --out "$tmp/run3" >"$tmp/out" 2>&1 && fail "no task of level 3"
grep -q 'has a level that was asked for' "$tmp/out" || fail "level 3: $(cat "$tmp/out")"
echo "prepare_forms: all good"
