#!/bin/bash
# Robustness in the headline: a softmax that does not subtract the maximum is correct for its task, but
# does not read as plainly correct, and --strict-inputs refuses it.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "robust.sh: $*"; exit 1; }

cat >"$tmp/task.py" <<'END_OF_TASK'
import torch
import torch.nn as nn
class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
rows = 16
cols = 100
def get_inputs():
    return [torch.randn(rows, cols)]
def get_init_inputs():
    return []
END_OF_TASK
# candidate NAME SHIFT: a softmax whose exponents are lowered by SHIFT
candidate() {
	cat >"$tmp/$1.py" <<END_OF_CANDIDATE
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + offs
    x = tl.load(x_ptr + at, mask=offs < cols, other=-float("inf"))
    e = tl.exp(x - $2)
    tl.store(y_ptr + at, e / tl.sum(e, 0), mask=offs < cols)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
END_OF_CANDIDATE
}
candidate stable 'tl.max(x, 0)'
candidate unstable 0.0

"$TRITONRL" verify "$tmp/stable.py" --task "$tmp/task.py" 2>/dev/null | grep -q 'stable.py: correct, reward' || fail "a stable softmax"
"$TRITONRL" verify "$tmp/stable.py" --task "$tmp/task.py" --json 2>/dev/null | grep -q '"failed":\[\],"summary":null' || fail "its JSON"
"$TRITONRL" verify "$tmp/unstable.py" --task "$tmp/task.py" 2>/dev/null >"$tmp/out" || fail "an unstable softmax is right for the task"
grep -q 'correct for this task; not robust: NaN on .* (general: .*large' "$tmp/out" || fail "headline: $(cat "$tmp/out")"
"$TRITONRL" verify "$tmp/unstable.py" --task "$tmp/task.py" --json 2>/dev/null | grep -q '"summary":"not robust: NaN on' || fail "summary"
rc=0; "$TRITONRL" verify "$tmp/unstable.py" --task "$tmp/task.py" --strict-inputs >"$tmp/out" 2>/dev/null || rc=$?
[ $rc = 1 ] && grep -q 'error\[not_finite\]' "$tmp/out" || fail "--strict-inputs: exit $rc, $(cat "$tmp/out")"
