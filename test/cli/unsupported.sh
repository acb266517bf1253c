#!/bin/bash
# The third outcome: a candidate that needs what only this engine lacks is `unsupported`. It has no
# reward, exit code 2, and a count of its own; a candidate that looks at its machine is refused.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "unsupported.sh: $*"; exit 1; }
cheats=$(dirname "$0")/../cheats
task=$cheats/tasks/add.py good=$cheats/control_correct/add.py

{ cat "$good"; echo 'unit = 1j'; } >"$tmp/complex.py"
{ cat "$good"; echo 'order = list({"a", "b"})'; } >"$tmp/set.py"

rc=0; "$TRITONRL" verify "$tmp/complex.py" --task "$task" --json >"$tmp/v" 2>"$tmp/err" || rc=$?
[ $rc = 2 ] || fail "exit $rc for an unsupported candidate"
grep -q '"correct":false,"verdict":"unsupported","stage":"compile","reason":"unsupported"' "$tmp/v" &&
	grep -q '"reward":null' "$tmp/v" || fail "verdict $(cat "$tmp/v")"
grep -q '"feedback":"Not judged (unsupported' "$tmp/v" || fail "feedback $(cat "$tmp/v")"
grep -q '0 correct, 0 not, 1 unsupported, 0 could not be judged' "$tmp/err" || fail "counts: $(cat "$tmp/err")"
"$TRITONRL" verify "$tmp/complex.py" --task "$task" 2>/dev/null | grep -q 'could not judge\[unsupported\].*no reward' ||
	fail "the text of an unsupported candidate"

# A wrong candidate beside it does not hide it; continuing an earlier output counts it again.
rc=0; "$TRITONRL" verify "$tmp/complex.py" "$tmp/set.py" "$good" --task "$task" --out "$tmp/out" 2>/dev/null || rc=$?
[ $rc = 2 ] || fail "exit $rc with an unsupported candidate among others"
rc=0; "$TRITONRL" verify "$tmp/complex.py" "$tmp/set.py" "$good" --task "$task" --out "$tmp/out" 2>"$tmp/err" || rc=$?
[ $rc = 2 ] && grep -q '1 correct, 1 not, 1 unsupported' "$tmp/err" || fail "continued: exit $rc, $(cat "$tmp/err")"

# Looking at the machine is a refusal with a reward of 0.
rc=0; "$TRITONRL" verify "$tmp/set.py" --task "$task" --json >"$tmp/v" 2>/dev/null || rc=$?
[ $rc = 1 ] && grep -q '"verdict":"forbidden","stage":"compile","reason":"unstable"' "$tmp/v" &&
	grep -q '"reward":0' "$tmp/v" || fail "the order of a set: exit $rc, $(cat "$tmp/v")"

# Inline assembly runs where the tile machine has the instruction; what it lacks is named.
asm() { # FILE TEXT: a copy of the scale control with the text as inline assembly
	sed "s|\"max.f32 [^\"]*\"|\"$2\"|" "$cheats/control_wrong/scale_wrong_asm_constant.py" >"$1"
}
asm "$tmp/asm.py" 'max.f32 $0, $1, 0f00000000; fma.rn.f32 $0, $0, 0f40400000, 0f3F000000;'
"$TRITONRL" verify "$tmp/asm.py" --task "$cheats/tasks/scale.py" >"$tmp/v" 2>&1 && grep -q ': correct' "$tmp/v" ||
	fail "inline assembly: $(cat "$tmp/v")"
while IFS='|' read -r text named; do
	asm "$tmp/asm.py" "$text"
	rc=0; "$TRITONRL" verify "$tmp/asm.py" --task "$cheats/tasks/scale.py" >"$tmp/v" 2>&1 || rc=$?
	[ $rc = 2 ] && grep -qF "$named" "$tmp/v" || fail "inline assembly '$text': exit $rc, $(cat "$tmp/v")"
done <<'EOF'
mov.u32 $0, %laneid;|mov.u32 $0, %laneid
shfl.sync.idx.b32 $0, $1, 0, 31, -1;|shfl.sync.idx.b32
ld.global.f32 $0, [$1];|ld.global.f32
max.f32 $0, $1, 0;|does not have the type
.reg .f32 t; mul.f32 t, $1, $1; mov.f32 $0, t;|outside braces
{ .reg .s32 t; mul.f32 t, $1, $1; mov.b32 $0, t; }|mul.f32 t
{ .reg .f32 t; add.f32 $0, $1, t; }|that no instruction has written
{ .reg .pred p; setp.lt.f32 p, $1, 1.0; @p mov.f32 $0, $1; }|@p mov.f32
max.f32 $0, $1, $1|no semicolon
mov.f32 $1, $1;|writes an input
mov.f32 $0, $1;;|a statement is empty
add.f32 $0, $1, 1e999;|does not have the type
add.f32 $0, $1, $1,;|an operand is missing
mov.f32 $0, $1; /* x|no semicolon
{ .reg .f32 t<2; mov.f32 $0, $1; }|the declaration
{ .reg .f32 %r1; mov.f32 %r1, $1; mov.f32 $0, %r1; }|cannot have that name
max..f32 $0, $1, $1;|max..f32
add.f32 $0, $1, 0f00000<00;|does not have the type
EOF
