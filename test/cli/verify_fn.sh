#!/bin/bash
# tritonrl verify of plain functions (--fn, --ref, --input), the speed that --explain shows, and its second look at
# wrong values: four common mistakes are named.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "verify_fn.sh: $*"; exit 1; }
judge() { # output, expected exit code, arguments
	local out=$1 want=$2 rc=0
	shift 2
	"$TRITONRL" verify "$@" >"$tmp/$out" 2>"$tmp/err" || rc=$?
	[ $rc = "$want" ] || fail "$*: exit $rc: $(cat "$tmp/$out" "$tmp/err")"
}
says() { grep -q -e "$2" "$tmp/$1" || fail "no '$2' in: $(cat "$tmp/$1" "$tmp/err")"; }

cat >"$tmp/rows.py" <<'PY'
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, y, n, FILL: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=FILL)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * n + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def norm_kernel(x, y, n, divisor, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0)
    d = tl.where(i < n, v - tl.sum(v, axis=0) / n, 0.0)
    tl.store(y + row * n + i, d / tl.sqrt(tl.sum(d * d, axis=0) / divisor + eps), mask=i < n)


def softmax(x):
    y = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, y, x.shape[1], FILL=float("-inf"), BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def softmax_zeros(x):
    y = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, y, x.shape[1], FILL=0.0, BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def standard(x):
    y = torch.empty_like(x)
    norm_kernel[(x.shape[0],)](x, y, x.shape[1], x.shape[1] - 1, 0.0, BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def standard_by_n(x):
    y = torch.empty_like(x)
    norm_kernel[(x.shape[0],)](x, y, x.shape[1], x.shape[1], 0.0, BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
PY
cat >"$tmp/refs.py" <<'PY'
import torch


def standard(x):
    return (x - x.mean(dim=1, keepdim=True)) / x.std(dim=1, keepdim=True)


def standard_eps(x):
    return (x - x.mean(dim=1, keepdim=True)) / torch.sqrt(x.var(dim=1, keepdim=True) + 1e-4)
PY

# A function by name gets the dim that it needs; an expression and a function of a file work too.
judge out 0 "$tmp/rows.py" --fn softmax --ref torch.softmax --input 256x300:f32 --explain
says out ': correct'
says out '^  speed: [0-9.]* us, PyTorch [0-9.]* us (estimated for H100); kernels'
says out '^  kernel softmax_kernel: [0-9.]* us in 1 launch, bound by launches, '
judge out 0 "$tmp/rows.py" --fn softmax --ref 'torch.exp(x) / torch.exp(x).sum(1, keepdim=True)' --input 64x30
judge out 0 "$tmp/rows.py" --fn standard --ref "$tmp/refs.py:standard" --input 64x50
judge out 0 "$tmp/rows.py" --fn softmax --ref torch.softmax --input 8192x4096 --gpu A100 --explain
says out '^  kernel softmax_kernel: [0-9.]* us in 1 launch, bound by memory, [0-9]* % of peak bandwidth'
judge json 0 "$tmp/rows.py" --fn softmax --ref torch.softmax --input 8192x4096 --json
python3 - "$tmp/json" <<'PY' || fail "kernels in JSON: $(cat "$tmp/json")"
import json, sys
kernel, = json.load(open(sys.argv[1]))["kernels"]
assert kernel["name"] == "softmax_kernel" and kernel["launches"] == 1 and kernel["bound"] == "memory"
assert 0.3 < kernel["share_of_peak"] <= 1 and kernel["seconds"] > 1e-5
PY

# Wrong values: the mistake is named.
judge out 1 "$tmp/rows.py" --fn softmax_zeros --ref torch.softmax --input 64x300 --explain
says out 'second look: the candidate counts lanes beyond the end, which its mask fills with 0'
judge out 1 "$tmp/rows.py" --fn softmax --ref 'torch.softmax(x, dim=0)' --input 64x64 --explain
says out 'second look: the candidate works along dimension 1, not 0'
judge out 1 "$tmp/rows.py" --fn standard_by_n --ref "$tmp/refs.py:standard" --input 64x50 --explain
says out 'second look: the candidate divides by N where the variance is divided by N - 1'
judge out 1 "$tmp/rows.py" --fn standard --ref "$tmp/refs.py:standard_eps" --input 64x50 --explain
says out 'second look: the candidate leaves out eps'
# Nothing is claimed where no changed reference fits, and nothing is tried without --explain.
judge out 1 "$tmp/rows.py" --fn softmax --ref 'torch.sigmoid(x)' --input 64x64 --explain
grep -q 'second look' "$tmp/out" && fail "a mistake was made up"
judge out 1 "$tmp/rows.py" --fn softmax --ref 'torch.softmax(x, dim=0)' --input 64x64
grep -q 'second look' "$tmp/out" && fail "a second look without --explain"

# Inputs of other kinds, and errors that say what to do.
printf 'import triton\nimport triton.language as tl\nimport torch\n\n\n@triton.jit\ndef k(x, y, o, s, n, BLOCK: tl.constexpr):\n' >"$tmp/scale.py"
printf '    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    v = tl.load(x + i, mask=i < n) * s + tl.load(y + i, mask=i < n)\n' >>"$tmp/scale.py"
printf '    tl.store(o + i, v, mask=i < n)\n\n\ndef scale(x, y, s):\n    o = torch.empty_like(x)\n    k[(triton.cdiv(x.numel(), 256),)](x, y, o, s, x.numel(), BLOCK=256)\n    return o\n' >>"$tmp/scale.py"
judge out 0 "$tmp/scale.py" --fn scale --ref 'x * z + y' --input 50x70 --input 50x70 --input =2.5
judge out 2 "$tmp/scale.py" --fn scale --ref 'x * z + y' --input 50y70
says err "'50y70' is not SHAPE"
judge out 2 "$tmp/scale.py" --fn nothing --ref torch.relu --input 5x7
says err "has no function 'nothing'"
judge out 2 "$tmp/scale.py" --fn scale --input 5x7
says err 'fn NAME --ref FUNCTION --input SHAPE'
judge out 2 "$tmp/scale.py" --fn scale --ref "$tmp/none.py:f" --input 5x7
says err 'none.py'
echo "verify_fn: all good"
