#!/bin/bash
# doctor: a line for every part, 1 exactly when something needed is missing, fixes named.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_PROFILE AWS_SHARED_CREDENTIALS_FILE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CACHE_HOME=$work      # no environment of Python, no credentials
cd "$work"

rc=0
"$TRITONRL" doctor >out || rc=$?
missing=$(grep -c '^missing' out || true)
[ $rc = $((missing > 0)) ] || fail "exit $rc with $missing parts missing"
for part in cpu memory 'write access' jansson sqlite landlock seccomp 'user namespaces' gpu python 's3 credentials'; do
	grep -q "^[a-z]*  *$part  *." out || fail "no line for $part"
done
grep -q '^ok  *write access' out || fail "a fresh folder is not writable?"
[ -z "$(ls -A | grep -v '^out$')" ] || fail "doctor left files behind: $(ls -A)"

"$TRITONRL" doctor --json >json || true
[ "$(grep -c '"name"' json)" = "$(grep -c '^[a-z]' out | awk '{ print $1 - 0 }')" ] || fail "JSON has another number of parts"

# Half a key is a mistake, and said with its fix; a whole one is found, in both places.
rc=0
AWS_ACCESS_KEY_ID=x "$TRITONRL" doctor >out || rc=$?
[ $rc = 1 ] || fail "half a key: exit $rc"
grep -q '^missing  s3 credentials.*AWS_SECRET_ACCESS_KEY is not' out || fail "half a key is not named"
grep -q -- '-> export AWS_SECRET_ACCESS_KEY' out || fail "half a key has no fix"
mkdir .aws
printf '[other]\naws_access_key_id = a\n[default]\naws_access_key_id = a\naws_secret_access_key = b\n' >.aws/credentials
"$TRITONRL" doctor >out || true
grep -q "^ok  *s3 credentials  *profile 'default'" out || fail "the credentials file is not found"
AWS_PROFILE=other "$TRITONRL" doctor >out || true
grep -q '^absent  *s3 credentials' out || fail "half a profile counts as credentials"

# A folder that cannot be written to.
rc=0
(cd /proc && "$TRITONRL" doctor) >out || rc=$?
[ $rc = 1 ] && grep -q '^missing  *write access' out || fail "/proc counts as writable"
