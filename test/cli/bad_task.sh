#!/bin/bash
# Tasks that cannot be judged: among others they are left out when the file is read, and it is said; alone
# they are an error, not a result.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
model="--model models/base --weights fast --threads 1 --workers 1 --prompt-style compact --max-new-tokens 200 --n 2"

# Its result is zero whatever is given: nothing can be told from it.
cat > "$dir/bad.jsonl" <<'END'
{"id": "bad", "task": "import torch\nimport torch.nn as nn\n\nclass Model(nn.Module):\n    def forward(self, x):\n        return x * 0.0\n\nn = 64\n\ndef get_inputs():\n    return [torch.randn(n)]\n\ndef get_init_inputs():\n    return []\n"}
END
echo '{"id": "broken", "task": "class Model(:\n"}' >> "$dir/bad.jsonl"
cat "$dir/bad.jsonl" <(head -n 1 tasks/plain/test_level1.jsonl) > "$dir/mixed.jsonl"

rc=0
"$TRITONRL" eval $model --tasks "$dir/bad.jsonl" > "$dir/out" 2>&1 || rc=$?
[ $rc = 2 ] || fail "eval of a bad task alone: exit $rc: $(cat "$dir/out")"
grep -q "none of the tasks can be judged" "$dir/out" || fail "eval of a bad task alone: $(cat "$dir/out")"
"$TRITONRL" eval $model --tasks "$dir/mixed.jsonl" > "$dir/out" 2>&1 || fail "eval of a mixed set: $(cat "$dir/out")"
said() {
	grep -q "task 'bad' is left out: a result of all zeros" "$dir/out" && grep -q "task 'broken' is left out: it is not valid Python" "$dir/out" &&
		grep -q "2 of 3 tasks cannot be judged and are left out" "$dir/out"
}
said || fail "eval does not say what it left out: $(cat "$dir/out")"
grep -q "^all  *1 " "$dir/out" || fail "eval counts what it left out: $(cat "$dir/out")"
"$TRITONRL" train --stage rl $model --tasks "$dir/mixed.jsonl" --out "$dir/run" --rl-steps 1 --tasks-per-step 2 --no-curriculum \
	> "$dir/out" 2>&1 || fail "training on a mixed set: $(cat "$dir/out")"
said || fail "training does not say what it left out: $(cat "$dir/out")"

# Its reference draws from Python's random, and fails on all input sets of the task's contract but runs on one of the others.
cat > "$dir/random.py" <<'END'
import random
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        if random.random() >= 0.6:
            return x * 2
        noise, clean = x
        return noise + clean


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return []
END
cat > "$dir/candidate.py" <<'END'
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def twice(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) * 2)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        twice[(1,)](x, y, BLOCK=256)
        return y
END
rc=0
"$TRITONRL" verify --no-general "$dir/candidate.py" --task "$dir/random.py" --quiet > "$dir/out" 2>&1 || rc=$?
[ $rc = 2 ] || fail "a task without input sets: exit $rc: $(cat "$dir/out")"
grep -q "runs on no input set of the task's contract" "$dir/out" || fail "a task without input sets: $(cat "$dir/out")"
