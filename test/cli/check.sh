#!/bin/bash
# tritonrl check: the form of its lines, exit codes, folders, JSON, signatures, versions.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "check.sh: $*"; exit 1; }

cat >"$tmp/good.py" <<'END'
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
END
cat >"$tmp/bad.py" <<'END'
import triton
import triton.language as tl


@triton.jit
def squash(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.tanh(tl.load(x_ptr + i)))


# signature: x_ptr=*fp16, n=i32
@triton.jit
def raised(x_ptr, n):
    tl.store(x_ptr, tl.exp(tl.load(x_ptr)))


@triton.jit
def gathered(x_ptr, index_ptr, BLOCK: tl.constexpr):
    i = tl.load(index_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + i, 1.0)
END
printf 'def broken(:\n' >"$tmp/syntax.py"

"$TRITONRL" check "$tmp/good.py" >"$tmp/out" || fail "a sound file is refused"
[ ! -s "$tmp/out" ] || fail "a sound file gets lines"

rc=0; "$TRITONRL" check "$tmp/bad.py" >"$tmp/out" || rc=$?
[ $rc = 1 ] || fail "exit code $rc for a wrong file"
grep -qF "$tmp/bad.py:8:25: error[unknown_tl_name]: module 'triton.language' has no attribute 'tanh'" "$tmp/out" || fail "no line for tl.tanh: $(cat "$tmp/out")"
grep -q 'bad.py:8:25: note: .*libdevice.tanh' "$tmp/out" || fail "no hint for tl.tanh"
grep -q "bad.py:14:21: error\[bad_dtype\]: Expected dtype \['fp32', 'fp64'\] but got fp16" "$tmp/out" || fail "the signature comment is not used"
[ "$(grep -c 'error\[' "$tmp/out")" = 2 ] || fail "a guessed type is blamed on the kernel"

rc=0; "$TRITONRL" check "$tmp" >"$tmp/out" || rc=$?
[ $rc = 1 ] || fail "exit code $rc for a folder"
grep -q 'syntax.py:1:[0-9]*: error\[syntax_error\]' "$tmp/out" || fail "no syntax error: $(cat "$tmp/out")"

rc=0; "$TRITONRL" check --json "$tmp/bad.py" >"$tmp/out" || rc=$?
python3 - "$tmp/out" <<'END' || fail "the JSON is wrong"
import json, sys
j = json.load(open(sys.argv[1]))
assert j["files"] == 1 and j["kernels"] == 3, j
assert [d["reason"] for d in j["diagnostics"]] == ["unknown_tl_name", "bad_dtype"], j
assert j["diagnostics"][0]["line"] == 8 and j["diagnostics"][0]["kernel"] == "squash", j
END

cat >"$tmp/blocks.py" <<'END'
import triton
import triton.language as tl


# signature: p=*fp32, n=i32
@triton.jit
def blocks(p, n):
    b = tl.make_block_ptr(p, (n,), (1,), (0,), (16,), (0,))
    tl.store(b, tl.load(b))
END
"$TRITONRL" check "$tmp/blocks.py" || fail "block pointers in 3.6"
! "$TRITONRL" check --triton-version 3.8 "$tmp/blocks.py" >/dev/null || fail "block pointers in 3.8"

rc=0; "$TRITONRL" check "$tmp/nowhere.py" 2>/dev/null || rc=$?
[ $rc = 2 ] || fail "exit code $rc for a file that is not there"
rc=0; "$TRITONRL" check 2>/dev/null || rc=$?
[ $rc = 2 ] || fail "exit code $rc without files"

# A whole program: kernels are compiled as it launches them, and its launches must fit the GPU.
cat >"$tmp/program.py" <<'END'
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i[:, None] * BLOCK + i[None, :])
    tl.store(y_ptr + i[:, None] * BLOCK + i[None, :], tl.dot(a, a, input_precision="ieee"))


@triton.jit
def forgotten(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        product[(1, 1)](x, out, x.numel(), BLOCK=64)
        return out


def get_inputs():
    return [torch.rand(64, 64)]


def get_init_inputs():
    return []
END
rc=0; "$TRITONRL" check "$tmp/program.py" >"$tmp/out" || rc=$?
[ $rc = 0 ] || fail "a sound program is refused: $(cat "$tmp/out")"
grep -q "program.py:15:1: warning\[kernel_not_launched\]: kernel 'forgotten'" "$tmp/out" || fail "the unused kernel is not seen: $(cat "$tmp/out")"
[ "$(wc -l <"$tmp/out")" = 1 ] || fail "more than a warning: $(cat "$tmp/out")"

# with SED_SCRIPT WANTED: the program changed so has that line and exit code 1
with() {
	sed "$1" "$tmp/program.py" >"$tmp/changed.py"
	rc=0; "$TRITONRL" check --caret "$tmp/changed.py" >"$tmp/out" || rc=$?
	[ $rc = 1 ] && grep -q "$2" "$tmp/out" || fail "$1: exit $rc, $(cat "$tmp/out")"
}
with 's/BLOCK=64/BLOCK=48/' 'changed.py:9:9: error\[not_power_of_two\]'
grep -qx '        i = tl.arange(0, BLOCK)' "$tmp/out" && grep -qx '            ^' "$tmp/out" || fail "no caret: $(cat "$tmp/out")"
with 's/(64, 64)\]/(64, 64).to(torch.int64)]/' 'changed.py:11:[0-9]*: error\[[a-z_]*\]'
with 's/(1, 1)/(1, 65536)/' 'changed.py:22:9: error\[bad_grid\]'
with 's/BLOCK=64/BLOCK=256/; s/64, 64/256, 256/' 'changed.py:22:9: error\[out_of_resources\]'
with 's/(x, out, x.numel/(x, x, x.numel/' 'changed.py:22:9: error\[uninitialised\]'
with 's/, BLOCK=64//' "changed.py:22:9: error\[type_error\].*'BLOCK'"
with 's/return out/return outt/' 'changed.py:23:16: error\[name_error\]'
sed '/^def get_in/,$d' "$tmp/program.py" | sed 's/BLOCK=64/BLOCK=48/' >"$tmp/model.py"
printf 'import torch\ndef get_inputs():\n    return [torch.rand(48, 48)]\ndef get_init_inputs():\n    return []\n' >"$tmp/inputs.py"
"$TRITONRL" check "$tmp/model.py" >/dev/null || fail "without inputs nothing is known of the launch"
! "$TRITONRL" check "$tmp/model.py" --task "$tmp/inputs.py" >/dev/null || fail "--task gives no inputs"

# imports inside a tree, pointers by a second name, what is only a guess, and the closing line
mkdir -p "$tmp/tree/pkg/ops"
printf 'try:\n    import triton\n    import triton.language as tl\nexcept ImportError:\n    tl = None\n' >"$tmp/tree/pkg/lang.py"
touch "$tmp/tree/pkg/__init__.py" "$tmp/tree/pkg/ops/__init__.py"
cat >"$tmp/tree/pkg/ops/helper.py" <<'END'
from pkg.lang import tl, triton

HALF = tl.constexpr(1.0 / 2)


@triton.jit
def halve(x):
    return x * HALF
END
cat >"$tmp/tree/pkg/ops/kernel.py" <<'END'
from typing import Optional

import pkg.ops.helper as other
from pkg.lang import tl, triton

from .helper import halve


@triton.jit
def direct(x_ptr, n, limit: int | None, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, halve(tl.load(x_ptr + i, mask=i < n)), mask=i < n)


@triton.jit
def through(table, out, stride, BITS: tl.constexpr, BLOCK: tl.constexpr):
    kind: tl.constexpr = tl.dtype(f"int{BITS * 2}")
    row = table + tl.program_id(0) * stride
    at = tl.load(row)
    tl.store(out + at * stride + tl.core.arange(0, BLOCK), other.halve(tl.full([BLOCK], 1.0, tl.float32)).to(kind))


@triton.jit
def unknown(x_ptr, MODE: tl.constexpr):
    tl.static_assert(MODE == "fast and loose")
    tl.store(x_ptr, 1.0)


@triton.jit
def guarded(x_ptr, MODE: tl.constexpr):
    if MODE == "other":
        raise ValueError("no")
    else:
        tl.store(x_ptr, 1.0)
END
rc=0; "$TRITONRL" check "$tmp/tree" >"$tmp/out" 2>&1 || rc=$?
[ $rc = 0 ] || fail "a sound tree is refused: $(cat "$tmp/out")"
grep -q 'kernel.py:[0-9]*:[0-9]*: unsure\[static_assert\]' "$tmp/out" || fail "a guess is no error and no silence: $(cat "$tmp/out")"
grep -qx 'checked 5 files: 4 kernels, 3 compile, 1 unsure, 0 errors; 1 functions that kernels call' "$tmp/out" || fail "what was checked: $(cat "$tmp/out")"

# All errors of a kernel that do not follow from one another; a wrong literal is an error under any types; a kernel with a
# value in its `return` is a kernel if the file launches it; a library function is checked for what no type can mend.
cat >"$tmp/all.py" <<'END'
import triton
import triton.language as tl


@triton.jit
def several(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.tanh(x)
    tl.store(x_ptr + i, y)
    for k in range(n):
        z = tl.nonsense(x)
        tl.store(x_ptr + i, z * tl.other(y))
        tl.store(x_ptr + i, tl.third(x))
    return x


@triton.jit
def literal(x_ptr):
    i = tl.arange(0, 100)
    tl.store(x_ptr + i, 1.0)
    j = tl.arange(0, 64)
    tl.store(x_ptr + j, tl.nope(tl.load(x_ptr + j)))


@triton.jit
def types(x_ptr, n):
    i = tl.arange(0, 64)
    t: tl.constexpr = tl.core.get_int_dtype(32, True)
    tl.store(x_ptr + i, i.to(t), mask=i < n)


@triton.jit
def library(a, b):
    c = a[:, None] + b
    return tl.missing(c)


def host(x):
    several[(1,)](x, 4, BLOCK=16)
END
rc=0; "$TRITONRL" check "$tmp/all.py" >"$tmp/out" 2>&1 || rc=$?
[ $rc = 1 ] || fail "exit code $rc for several errors"
got=$(sed -n 's/.*all.py:\([0-9]*\):[0-9]*: \([a-z]*\)\[\([a-z_]*\)\].*/\1 \2 \3/p' "$tmp/out" | tr '\n' ',')
want="9 error unknown_tl_name,12 error unknown_tl_name,14 error unknown_tl_name,15 error bad_return,20 error not_power_of_two,23 error unknown_tl_name,36 error unknown_tl_name,"
[ "$got" = "$want" ] || fail "the errors are '$got', not '$want': $(cat "$tmp/out")"
with 's/tl.dot(a, a, input_precision="ieee"))/tl.nope(a))\n    tl.nope2(a)/' 'changed.py:12:5: error\[unknown_tl_name\]'

# Exit codes and SARIF for a CI.
"$TRITONRL" check --quiet "$tmp/program.py" >/dev/null || fail "a warning is no error"
rc=0; "$TRITONRL" check --quiet --fail-on warning "$tmp/program.py" >/dev/null || rc=$?
[ $rc = 1 ] || fail "--fail-on warning ended with $rc"
rc=0; "$TRITONRL" check --quiet --fail-on warning "$tmp/tree" >/dev/null || rc=$?
[ $rc = 0 ] || fail "an unsure finding is no warning: $rc"
rc=0; "$TRITONRL" check --quiet --fail-on unsure "$tmp/tree" >/dev/null || rc=$?
[ $rc = 1 ] || fail "--fail-on unsure ended with $rc"
rc=0; "$TRITONRL" check --sarif "$tmp/all.py" "$tmp/program.py" "$tmp/tree" >"$tmp/sarif" 2>/dev/null || rc=$?
[ $rc = 1 ] || fail "--sarif ended with $rc"
python3 - "$tmp/sarif" <<'END' || fail "SARIF: $(head -c 600 "$tmp/sarif")"
import collections, json, sys
s = json.load(open(sys.argv[1]))
run = s["runs"][0]
rules = {r["id"] for r in run["tool"]["driver"]["rules"]}
assert s["version"] == "2.1.0" and all(r["ruleId"] in rules for r in run["results"]), s
levels = collections.Counter(r["level"] for r in run["results"])
assert levels == {"error": 7, "warning": 1, "note": 1}, levels
first = run["results"][0]["locations"][0]["physicalLocation"]
assert first["artifactLocation"]["uri"].endswith("all.py") and first["region"] == {"startLine": 9, "startColumn": 9}, first
END
rc=0; "$TRITONRL" check --sarif --json "$tmp/good.py" 2>/dev/null || rc=$?
[ $rc = 2 ] || fail "two forms at once ended with $rc"
