#!/bin/bash
# The evaluation tasks of the tree: every reference runs and its own results pass the judge. A task that
# does not run would otherwise only be left out of an evaluation, with a warning.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for set in tasks/*/*.jsonl; do
	rm -f "$dir/verdicts.jsonl"
	rc=0
	"$TRITONRL" verify --identity --jsonl "$set" --out "$dir/verdicts.jsonl" --quiet || rc=$?
	[ "$(wc -l <"$dir/verdicts.jsonl")" = "$(wc -l <"$set")" ] || { echo "$set: a verdict is missing"; exit 1; }
	bad=$(grep -v '"correct":true' "$dir/verdicts.jsonl" | cut -c1-300) || true
	[ -z "$bad" ] && [ $rc = 0 ] || { echo "$set: exit $rc: $bad"; exit 1; }
done
