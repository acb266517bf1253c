#!/bin/bash
# help, version and the exit codes of wrong use; every command prints help, man and completion.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
expect() { # code, words...: runs tritonrl and compares the exit code; output in $out
	local want=$1 rc=0
	shift
	out=$("$TRITONRL" "$@" 2>&1) || rc=$?
	[ $rc = "$want" ] || fail "'tritonrl $*' ended with $rc, not $want: $out"
}
has() { [[ $out == *"$1"* ]] || fail "'$1' is not in: $out"; }

expect 2; has "usage: tritonrl COMMAND"
expect 0 help; has "version"
expect 0 --help; has "usage: tritonrl COMMAND"
expect 0 version; has "tritonrl "
expect 0 --version; has "tritonrl "
expect 0 version --json; has '{"version":"'
expect 2 versoin; has "did you mean 'version'?"
expect 2 version --jsno; has "did you mean '--json'?"
expect 2 help nosuch; has "unknown command 'nosuch'"
for command in $("$TRITONRL" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	expect 0 help "$command"; has "usage: tritonrl $command"
	expect 0 "$command" --help; has "--config"
	short=$(grep -c '^  \(    \|-., \)--' <<<"$out") more=$(sed -n 's/^\([0-9]*\) more options: tritonrl .* --help-all$/\1/p' <<<"$out")
	[ "$short" -le 20 ] || fail "'$command --help' shows $short options"
	expect 0 "$command" --quiet --help-all; has "usage: tritonrl $command"
	all=$(grep -c '^  \(    \|-., \)--' <<<"$out")
	[ $((short + ${more:-0})) = "$all" ] || fail "'$command': $short + ${more:-0} options are not $all"
	"$TRITONRL" help --man | awk -v c=".SS $command" '/^\.SS/ { on = $0 == c } on && /^\.B .*\\-\\-/' | wc -l |
		grep -qx "$all" || fail "the man page of '$command' does not have all $all options"
done
expect 0 help --man; has ".SH NAME"
"$TRITONRL" help --completion | bash -n || fail "the completion script is not bash"
complete=$(bash -c 'source /dev/stdin; COMP_WORDS=(tritonrl version --js) COMP_CWORD=2; _tritonrl; echo "${COMPREPLY[*]}"' \
	< <("$TRITONRL" help --completion))
[ "$complete" = --json ] || fail "completion gives '$complete'"
"$TRITONRL" version >/dev/full 2>/dev/null && fail "a full disk went unnoticed" || true

# Every command accepts --quiet.
for c in $("$TRITONRL" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	"$TRITONRL" "$c" --quiet --help >/dev/null || { echo "help.sh: $c does not take --quiet"; exit 1; }
done
