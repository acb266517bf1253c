#!/bin/bash
# Hostile tasks and candidates: endless loops, terabytes, deep recursion, nonsense. Each gets a
# clear answer within its limits, and nothing crashes.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "bad_input.sh: $*"; exit 1; }
cheats=$(dirname "$0")/../cheats

# program NAME TOP BODY: a task whose module runs TOP and whose forward runs BODY.
program() {
	cat >"$tmp/$1.py" <<-END
	import torch
	import torch.nn as nn
	$2
	class Model(nn.Module):
	    def __init__(self):
	        super().__init__()
	    def forward(self, a, b):
	        $3
	        return a + b
	def get_inputs():
	    return [torch.rand(8, 8), torch.rand(8, 8)]
	def get_init_inputs():
	    return []
	END
}

# answers NAME CODE TEXT COMMAND...: the command ends in time with that exit code and says that text.
answers() {
	local name=$1 want=$2 text=$3 rc=0
	shift 3
	timeout 60 "$@" >"$tmp/out" 2>&1 || rc=$?
	[ $rc = "$want" ] || fail "$name: exit $rc, not $want: $(tail -c 300 "$tmp/out")"
	grep -q "$text" "$tmp/out" || fail "$name: no '$text' in: $(tail -c 300 "$tmp/out")"
}

task() { answers "$1" 2 "$2" "$TRITONRL" verify "$cheats/control_correct/add.py" --task "$tmp/$1.py" --workers 1 --timeout 20; }

program loop_module 'while True: pass' 'pass'
task loop_module 'more than .* steps'
program loop_forward '' 'while True: a = a + 0'
task loop_forward 'more than .* steps'
program terabyte '' 'torch.empty(1 << 40, dtype=torch.uint8)'
task terabyte 'asks for 1048576 MB'
program terabyte_list '' 'z = [0] * (1 << 37)'
task terabyte_list 'sequence of 137438953472'
program terabyte_text '' "z = 'a' * (1 << 40)"
task terabyte_text 'sequence of 1099511627776'
program many_items '' 'z = [i for i in range(10 ** 12)]'
task many_items 'more than .* steps\|limit'
program huge_number '' 'z = 10 ** (10 ** 9)'
task huge_number 'more than .* steps\|limit'
program recursion 'f = lambda n: 0 if n == 0 else 1 + f(n - 1)' 'f(10 ** 6)'
task recursion 'RecursionError'
program nested '' "z = $(printf '(%.0s' $(seq 20000))1$(printf ')%.0s' $(seq 20000))"
task nested 'nested'

# A candidate that does the same is not correct.
sed "s/        out = torch.empty_like(a)/        out = torch.empty_like(a)\n        big = torch.empty(1 << 40)/" "$cheats/control_correct/add.py" >"$tmp/greedy.py"
answers greedy 1 'error\[' "$TRITONRL" verify "$tmp/greedy.py" --task "$cheats/tasks/add.py" --workers 1

# 100 MB of nonsense: random bytes, and what looks like a program.
head -c 100000000 /dev/urandom >"$tmp/nonsense.py"
yes 'x = (((a' | head -c 100000000 >"$tmp/open.py"
for f in nonsense open; do
	answers "$f as a task" 2 'larger than\|error' "$TRITONRL" verify "$cheats/control_correct/add.py" --task "$tmp/$f.py" --workers 1
	answers "$f as a candidate" 2 'larger than\|error' "$TRITONRL" verify "$tmp/$f.py" --task "$cheats/tasks/add.py" --workers 1
done
