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
