#!/bin/bash
# A kernel that compiled has compiled, whatever fails afterwards: the reward is 0.3 and the stage
# `compile` is passed after a race, an access out of bounds, a kernel without an end, and an error of
# host code that follows a launch. An error before any launch earns nothing.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "reward.sh: $*"; exit 1; }
cheats=$(dirname "$0")/../cheats

# expect TASK FILE STAGE REASON COMPILED REWARD: the verdict of a candidate
expect() {
	"$TRITONRL" verify "$2" --task "$cheats/tasks/$1.py" --json --workers 1 >"$tmp/v" 2>/dev/null || true
	python3 - "$tmp/v" "${@:3}" <<'END_OF_PYTHON' || fail "$2"
import json, sys
v = json.load(open(sys.argv[1]))
compiled = any(s["name"] == "compile" and s["passed"] for s in v["stages"])
got = [v["stage"], v["reason"], str(int(compiled)), format(v["reward"], "g")]
if got != sys.argv[2:]:
    sys.exit(f"got {got}, expected {sys.argv[2:]}")
END_OF_PYTHON
}

# caught FILE...: as `expect`, against the task that the head of the file names
caught() { expect "$(sed -n 's/^# task: //p' "$cheats/$1")" "$cheats/$1" "${@:2}"; }
caught out_of_bounds/load_past_end.py tiny out_of_bounds 1 0.3
caught out_of_bounds/wild_address.py tiny bad_pointer 1 0.3
caught hang_or_exhaustion/endless_kernel_loop.py tiny kernel_timeout 1 0.3
caught race/reads_previous_instance.py tiny race 1 0.3

# candidate NAME BEFORE AFTER: a ReLU with lines before and after its launch
candidate() {
	cat >"$tmp/$1.py" <<END_OF_CANDIDATE
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(y_ptr + offs, tl.maximum(x, 0.0), mask=offs < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        $2
        kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
        $3
        return y
END_OF_CANDIDATE
}

candidate after pass "return y.view(3, -1, 7)"
expect relu "$tmp/after.py" tiny shape_error 1 0.3
expect relu_large "$tmp/after.py" full shape_error 1 0.3
candidate name pass "return missing"
expect relu "$tmp/name.py" tiny name_error 1 0.3
candidate before "raise ValueError('no')" pass
expect relu "$tmp/before.py" tiny value_error 0 0
expect relu_large "$tmp/before.py" full value_error 0 0
